"""An engine that does not start is refused with its own reason, without what stands in quotes."""

from __future__ import annotations

import duckdb
import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError, reason_of
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.databases.local_copy import columns_of
from crowdblend.sources.engines.duckdb.database import database, redact
from crowdblend.sources.engines.spark.session import session
from crowdblend.sources.engines.temporary_files import private_folder
from tests.api.survey import survey, table

SECRET = "hunter2"


def test_duckdb_says_why_it_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: object, **__: object) -> None:
        raise duckdb.IOException(f"Cannot read '/home/{SECRET}': Permission denied\nrow {SECRET}")

    monkeypatch.setattr(duckdb, "connect", connect)
    with (
        pytest.raises(CrowdblendError, match=r"does not start: Cannot read …: Permission denied\.") as refused,
        private_folder() as folder,
        database(Resources(), folder),
    ):
        pass
    assert refused.value.code == "data.database"
    assert SECRET not in str(refused.value)


def test_a_failure_while_rows_are_read_has_no_words_of_theirs() -> None:
    with pytest.raises(CrowdblendError) as refused, redact("The rows cannot be read."):
        raise duckdb.ConversionException(f"could not convert string {SECRET} to INT32")
    assert SECRET not in str(refused.value)


def test_a_server_says_why_it_does_not_answer() -> None:
    data = DataSource("postgresql://me@127.0.0.1:1/town", "postgres", table="people", rows_are_people=True)
    with pytest.raises(CrowdblendError, match=r"does not answer: .*Connection refused") as refused:
        columns_of(data)
    assert refused.value.code == "data.database"


def test_spark_says_why_it_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql")

    def start(_: object) -> None:
        raise RuntimeError(f"[JAVA_GATEWAY_EXITED] Java gateway process exited; tried '{SECRET}'.")

    monkeypatch.setattr(sql.SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(type(sql.SparkSession.builder), "getOrCreate", start)
    said = r"does not start: \[JAVA_GATEWAY_EXITED\] .* tried …\."
    with pytest.raises(CrowdblendError, match=said) as refused, session("local[1]"):
        pass
    assert refused.value.code == "engine.spark-start"


def test_a_reason_is_one_short_line() -> None:
    assert reason_of(OSError()) == "OSError"
    assert reason_of(ValueError("\n\x1b[2Jgone:\nmore")) == "[2Jgone"
    assert len(reason_of(ValueError("x" * 10_000))) == 200
    assert reason_of(ValueError("at postgresql://me:pass@host/db now")) == "at … now"


def test_a_progress_bar_that_cannot_be_hidden_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As DuckDB has it in a notebook without ipywidgets; tests/docs/test_notebooks.py runs one."""
    start = duckdb.connect

    class InNotebook:
        def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
            self._connection = connection

        def execute(self, query: str, *given: object) -> object:
            if "enable_progress_bar" in query:
                raise duckdb.InvalidInputException("Invalid Input Error: ipywidgets is missing")
            return self._connection.execute(query, *given)

        def __getattr__(self, name: str) -> object:
            return getattr(self._connection, name)

    monkeypatch.setattr(duckdb, "connect", lambda *given, **named: InNotebook(start(*given, **named)))
    assert cb.release(survey(), table(), ledger=None).data.num_rows
