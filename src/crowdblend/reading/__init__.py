"""Reading of a release: its data, declared domain, guarantees, and estimates."""
