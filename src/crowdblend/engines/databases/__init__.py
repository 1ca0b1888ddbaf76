"""Databases as sources: rows stream from an ADBC driver into a private file, once, in a read-only transaction."""
