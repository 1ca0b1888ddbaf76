"""What Python and the operating system give, and how they differ: lazy imports, files, processes, signals, events."""
