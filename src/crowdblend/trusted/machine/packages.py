"""Packages that take long to load, each imported at its first use.

    from crowdblend.trusted.machine.packages import duckdb, parquet
    from crowdblend.trusted.machine.packages import pyarrow as pa

Type checkers read the plain imports; import contracts forbid this module where a package must not be imported.
"""

from __future__ import annotations

from crowdblend.trusted.machine.lazy import lazy_imports

__all__ = ["compute", "csv", "duckdb", "integrate", "parquet", "psycopg", "pyarrow", "special"]

with lazy_imports():
    import duckdb
    import psycopg
    import pyarrow
    from pyarrow import compute, csv, parquet
    from scipy import integrate, special
