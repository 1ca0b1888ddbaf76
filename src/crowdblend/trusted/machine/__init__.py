"""Python and the operating system, where they differ or lack something: lazy imports, files, processes, signals."""
