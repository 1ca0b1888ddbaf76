"""Databases as sources: rows stream from a driver into a private file, once, in a read-only transaction."""
