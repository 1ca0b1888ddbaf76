"""The Spark session: the caller's where there is one, ours otherwise; jobs that can be stopped.

Only what Spark Connect offers too is used: no context, no RDD, no gateway to Java. Spark's own messages may quote rows,
so none of them reaches anyone: it stays in the driver's log.
"""

from __future__ import annotations

import os
import re
import sys
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from crowdblend.errors import CrowdblendError, NotReachable, Unavailable, reason_of
from crowdblend.sources.engines.engine import Progress
from crowdblend.sources.engines.refusals import refusal
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.packages import pyarrow as pa
from crowdblend.trusted.machine.version import __version__

with lazy_imports():
    from pyspark import sql
    from pyspark.sql import DataFrame, SparkSession

# The size from which PySpark hands a function over through a file on the driver's disk.
BROADCAST_FROM = "spark.broadcast.UDFCompressionThreshold"
# What a task says that finds other code of ours than the driver's, before the version that it finds.
OTHER_CODE = "CROWDBLEND_OTHER_CODE"
_BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_ROWS = 1 << 17
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # Workers import nothing from the folder that Spark was started in, which may be that of the data.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
    # The key travels inside functions, which are never written to a file.
    BROADCAST_FROM: "1g",
}


@contextmanager
def session(master: str | None = None, conf: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """The active session; without one, a session that is stopped afterwards.

    `master` is that of Spark; without one, that of spark-submit, SPARK_REMOTE or the settings, and else all cores of
    this machine.
    """
    loaded = sys.modules.get("pyspark.sql")
    if loaded is not None and (active := loaded.SparkSession.getActiveSession()) is not None:
        yield active
        return
    try:
        with quiet():
            builder = sql.SparkSession.builder.appName("crowdblend")
    except ImportError:
        message = "The Spark engine needs PySpark."
        remedy = 'Install it in a checkout: pip install ".[spark]".'
        raise Unavailable(message, remedy=remedy, where="crowdblend[spark]", code="system.package") from None
    remote = master is None and "SPARK_REMOTE" in os.environ
    if not remote and (master is None or master.startswith("local")):
        # The same Python, with the same packages, where the workers are on this machine.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master is not None:
        builder = builder.master(master)
    for name, value in {**({} if remote else _SETTINGS), **(conf or {})}.items():
        builder = builder.config(name, value)
    try:
        with quiet():
            made: SparkSession = builder.getOrCreate()
    except Exception as problem:
        message = f"Spark does not start: {reason_of(problem)}."
        remedy = "Check its settings, and that Java 17 is installed; its log says more."
        raise NotReachable(message, remedy=remedy, where="`--engine spark`", code="engine.spark-start") from None
    try:
        yield made
    finally:
        made.stop()


def broadcast_from(spark: SparkSession) -> int:
    """Return the size in bytes from which a function goes through a file; Spark Connect uses none."""
    if not hasattr(spark, "_jsparkSession"):
        return sys.maxsize
    found = re.fullmatch(r"([0-9]+)([kmgt]?)b?", str(spark.conf.get(BROADCAST_FROM, "1m")).lower())
    return 0 if found is None else int(found[1]) << 10 * " kmgt".index(found[2] or " ")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence PySpark's warnings about versions of pandas, which is not used here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def collect(frame: DataFrame, progress: Progress | None = None, phase: str = "reading") -> pa.Table:
    """Return the rows of a frame on the driver, as Arrow; Ctrl-C stops the job."""
    spark = frame.sparkSession
    tag = f"crowdblend-{uuid.uuid4().hex}"
    if progress:
        progress(phase, 0)
    with quiet(), redact(), _larger_batches(spark):
        spark.addTag(tag)
        try:
            return frame.toArrow()
        except BaseException as problem:
            # Ctrl-C may be behind a failure: PySpark stops the job, and then complains that it was stopped.
            behind: BaseException | None = problem
            while behind is not None and not isinstance(behind, KeyboardInterrupt):
                behind = behind.__cause__ or behind.__context__
            if behind is None:
                raise
            with suppress(Exception):
                spark.interruptTag(tag)
            raise KeyboardInterrupt from None
        finally:
            with suppress(Exception):
                spark.removeTag(tag)


@contextmanager
def _larger_batches(spark: SparkSession) -> Iterator[None]:
    """Batches of more rows: fewer are quicker to hand over. The session's setting is put back."""
    before = spark.conf.get(_BATCH_ROWS, None)
    spark.conf.set(_BATCH_ROWS, str(_ROWS))
    try:
        yield
    finally:
        with suppress(Exception):
            spark.conf.unset(_BATCH_ROWS) if before is None else spark.conf.set(_BATCH_ROWS, before)


def _other_code(version: str) -> Unavailable:
    """Return the refusal of executors with other code than the driver's, which would draw another sample."""
    found = f"crowdblend {version}" if version != __version__ else f"other code of crowdblend {version}"
    message = f"The Spark executors run {found}, and the driver crowdblend {__version__}: they would draw other people."
    remedy = "Install the same version everywhere."
    return Unavailable(message, remedy=remedy, where="crowdblend", code="engine.spark-version")


@contextmanager
def redact() -> Iterator[None]:
    """Failures of Spark inside, without a word of theirs."""
    try:
        yield
    except (CrowdblendError, MemoryError):
        raise
    except Exception as error:
        text = str(error)
        if (other := re.search(rf"{OTHER_CODE}\[([\w.+-]{{1,40}})\]", text)) is not None:
            raise _other_code(other[1]) from None
        if "maxResultSize" in text:
            message = "The classes of the sample take more room than the driver has."
            remedy = "Raise spark.driver.maxResultSize and the driver's memory, or coarsen the columns."
            raise refusal("memory", message, remedy, "spark.driver.maxResultSize") from None
        if "No module named" in text:
            message = "The Spark executors lack crowdblend or a package that it needs."
            remedy = 'Install it for the Python of the executors, in a checkout: pip install ".[spark]".'
            raise Unavailable(message, remedy=remedy, where="PYSPARK_PYTHON", code="engine.spark-package") from None
        if "PYTHON_VERSION_MISMATCH" in text:
            message = "The Spark executors run another version of Python than the driver."
            remedy = "Set PYSPARK_PYTHON to the same version."
            raise Unavailable(message, remedy=remedy, where="PYSPARK_PYTHON", code="engine.spark-package") from None
        message, remedy = "The Spark job failed.", "Its log says why; nothing was published."
        raise NotReachable(message, remedy=remedy, where="`--engine spark`", code="engine.spark-job") from None
