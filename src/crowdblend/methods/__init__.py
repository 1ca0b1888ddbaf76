"""How people are drawn, hidden and estimated; no file, no policy."""
