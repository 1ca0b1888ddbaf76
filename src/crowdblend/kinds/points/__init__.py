"""Points: blocks of at least k, exact in number, every point moved by noise."""
