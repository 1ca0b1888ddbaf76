"""`check`: a policy's rows checked against what it declares, for the steward alone."""

from __future__ import annotations

import os

from crowdblend.api.sources import about, loaded_policy
from crowdblend.sources.engines.choice import is_spark_frame
from crowdblend.sources.engines.refusals import refusal
from crowdblend.trusted.guarantees.parameters import check_progress
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.stopping import Standing, when_stopped

with lazy_imports():
    from crowdblend.policies.policy import Policy
    from crowdblend.sources.checking import reading
    from crowdblend.sources.checking.check import Check
    from crowdblend.sources.engines.engine import Progress


def check(data: object, policy: Policy | str | os.PathLike[str], *, progress: Progress | None = None) -> Check:
    """Return how the rows fit the `policy`: values outside their domains, blanks, repeated persons, forms of dates.

    `data` are as for `release`: a frame, a table, a path; None takes the source that the policy names. Every row is
    looked at, nothing is drawn, spent or recorded, and nothing is kept. `describe()` and `to_dict()` of the result show
    values and counts, which are for you alone; its repr, which a notebook keeps, has neither. `progress` is called with
    the name of a phase and the rows read so far.
    """
    check_progress(progress)
    if is_spark_frame(data):
        message = "Rows are checked by DuckDB, which does not read a Spark DataFrame."
        raise refusal("type", message, "Write it to Parquet files, and pass their path.", "data")
    stopped = when_stopped(lambda: Standing("Nothing was recorded."))
    with stopped, about(data, loaded_policy(policy), "duckdb") as here:
        return reading.check_rows(here, progress)
