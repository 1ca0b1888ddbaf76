"""The engine on DuckDB."""
