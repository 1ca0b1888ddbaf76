"""Packages that take long to load, each imported at its first use.

    from crowdblend.packages import duckdb, parquet
    from crowdblend.packages import pyarrow as pa

Type checkers read the plain imports; import contracts forbid this module where a package must not be imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdblend.lazy import lazy

__all__ = ["compute", "duckdb", "integrate", "parquet", "psycopg", "pyarrow", "special"]

if TYPE_CHECKING:
    import duckdb
    import psycopg
    import pyarrow
    from pyarrow import compute, parquet
    from scipy import integrate, special
else:
    duckdb, psycopg, pyarrow = map(lazy, ("duckdb", "psycopg", "pyarrow"))
    compute, parquet = lazy("pyarrow.compute"), lazy("pyarrow.parquet")
    integrate, special = lazy("scipy.integrate"), lazy("scipy.special")
