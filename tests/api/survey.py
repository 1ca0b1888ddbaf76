"""A small made-up survey and its policy, for the tests of the Python interface."""

from typing import Any

import numpy as np
import pyarrow as pa

import crowdblend as cb

KEY = bytes(range(32))
PEOPLE = 600


def survey(people: int = PEOPLE) -> pa.Table:
    """One row per person: person_id, sex, age."""
    draw = np.random.default_rng(7)
    return pa.table(
        {
            "person_id": np.arange(people) + 1000,
            "sex": np.array(["Female", "Male"])[draw.integers(0, 2, people)],
            "age": draw.integers(0, 40, people),
        }
    )


def table(**changes: Any) -> cb.Policy:
    """A policy of one table for the survey; k is planned."""
    given: dict[str, Any] = {
        "person": "person_id",
        "population": "residents",
        "columns": {"sex": cb.values("Female", "Male"), "age": cb.intervals(0, 40, width=20)},
        "sampling": cb.Poisson(0.5),
        "epsilon": 1.0,
        "delta": 1e-6,
        "publish": cb.Table(),
    }
    return cb.Policy(**{**given, **changes})
