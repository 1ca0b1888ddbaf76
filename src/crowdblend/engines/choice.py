"""The engine that a command or a call names."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from crowdblend.engines.engine import Engine, default_engine
from crowdblend.errors import InvalidInput

ENGINES = ("duckdb", "spark")


@contextmanager
def engine_named(name: str, master: str | None = None, settings: Sequence[str] = ()) -> Iterator[Engine]:
    """The engine, as long as the context lasts; `master` and `settings` such as name=value are those of Spark."""
    check_engine(name)
    if name == "duckdb":
        _refuse_settings(master, settings)
        yield default_engine()
        return
    from crowdblend.engines.spark.engine import SparkEngine  # noqa: PLC0415 - heavy

    with SparkEngine.started(master, dict(map(_setting, settings))) as engine:
        yield engine


def check_engine(name: str) -> None:
    """Refuse an engine that there is not."""
    if name not in ENGINES:
        raise InvalidInput(
            f"there is no engine {str(name)[:60]!r}.",
            remedy=f"Use {' or '.join(ENGINES)}.",
            where="engine",
            code="engine.unknown",
        )


def is_spark_frame(data: Any) -> bool:
    """Whether the data are a DataFrame of Spark, of whichever kind of session; Spark is not loaded for it."""
    kind = getattr(sys.modules.get("pyspark.sql"), "DataFrame", None)
    return isinstance(kind, type) and isinstance(data, kind)


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InvalidInput(
            f"{text[:60]!r} is no setting of Spark.",
            remedy="Write name=value, for example spark.driver.memory=4g.",
            where="--conf",
            code="engine.spark-setting",
        )
    return name.strip(), value


def _refuse_settings(master: str | None, settings: Sequence[str]) -> None:
    if master is not None or settings:
        raise InvalidInput(
            "--master and --conf are for Spark.",
            remedy="Add --engine spark, or leave them out.",
            where="--engine",
            code="engine.not-spark",
        )
