"""Workers of Spark that are forked with their packages loaded: every failure ends one, and each would load them anew.

Spark runs it in place of `pyspark.daemon`, alone on its path: it is no part of the package of tests.
"""

import gc
import sys
from importlib import import_module

if __name__ == "__main__":
    # The archive of PySpark that Spark puts first is compiled anew by every process, and read again by every worker.
    sys.path[:] = [place for place in sys.path if not place.endswith(".zip")]
    for package in ("crowdblend.sources.engines.spark.tasks", "duckdb", "pandas", "pyspark.worker"):
        import_module(package)
    # Workers look for garbage after every task; what is loaded is none.
    gc.freeze()
    import_module("pyspark.daemon").manager()
