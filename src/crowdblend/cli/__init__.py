"""The command line: thin, and in the same words as the library."""
