"""Programmes for tests: one town, one policy, five publications."""

from typing import Any

import crowdblend as cb
from crowdblend.kinds.programme.programme import ProgrammePlan
from crowdblend.policies.policy import Policy

PEOPLE = 20_000
COLUMNS: dict[str, Any] = {
    "sex": ["female", "male"],
    "age": cb.intervals(0, 90, width=10, top=True),
    "district": [*("Harbour", "Old Town", "Riverside", "Hillside"), *("Station", "Garden City", "University", "Mills")],
    "income": cb.bounds(0, 200_000, resolution=100, outside="clamp"),
}


def five(**changes: Any) -> Policy:
    """Microdata, a suppressed and a noisy table, an outlier table and medians, each from a part of one sample."""
    given: dict[str, Any] = {
        "person": "person_id",
        "population": "town",
        "people": PEOPLE,
        "sampling": cb.Poisson(0.5),
        "epsilon": 1.0,
        "delta": 1e-6,
        "columns": COLUMNS,
        "publish": [
            cb.Microdata("age", "sex", name="people", share=0.5),
            cb.Table("age", "sex", name="by_age", share=0.2),
            cb.Table("district", name="by_district", share=0.1, below_k="noise"),
            cb.OutlierTable("district", "sex", name="outliers", limit=400, share=0.1),
            cb.Statistics(cb.median("income"), by="sex", name="income", share=0.1),
        ],
    }
    return Policy(**{**given, **changes})


def two(*publish: Any, **changes: Any) -> Policy:
    """Two suppressed tables, or others, of what the publications use."""
    listed = publish or (cb.Table("age", "sex", name="a"), cb.Microdata("district", "sex", name="b"))
    used = {name for one in listed for name in one.columns}
    columns = {name: domain for name, domain in COLUMNS.items() if name in used}
    return five(**{"publish": list(listed), "columns": columns, "people": None, **changes})


def planned(policy: Policy) -> ProgrammePlan:
    """The plan of a programme."""
    found = policy.plan()
    assert isinstance(found, ProgrammePlan)
    return found
