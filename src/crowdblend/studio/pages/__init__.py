"""One file per step or page; each has its own routes."""
