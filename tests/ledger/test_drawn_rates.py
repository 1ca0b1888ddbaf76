"""The ledger is told the largest rate of a table that was drawn before, whatever the design and the publications."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotCompose
from crowdblend.kinds import plan
from crowdblend.policies.policy import Policy
from crowdblend.policies.source import DataSource
from crowdblend.publishing.pending import pending_release
from crowdblend.sources.engines.choice import default_engine
from crowdblend.sources.engines.frames import opened_frame
from tests.cases import for_each

# The largest comes neither first nor last.
RATES = {"north": 0.1, "south": 0.5, "west": 0.3}
REGION, SEX, WEIGHT = cb.values(*RATES), cb.values("f", "m"), cb.breaks(2.5, 4, 8)
TWO = [cb.Table("region", name="a"), cb.Table("region", "sex", name="b")]


def policy(sampling: Any, columns: dict[str, Any], publish: Any = None, **changes: Any) -> Policy:
    given: dict[str, Any] = {"person": "id", "epsilon": 3.0, "delta": 1e-3, "publish": publish or cb.Table()}
    return cb.Policy(**{**given, "sampling": sampling, "columns": columns, **changes})


def strata(**changes: Any) -> Any:
    return cb.Strata("region", RATES, **{"already_drawn": True, **changes})


DRAWN: dict[str, tuple[Policy, float | None]] = {
    "coins": (policy(cb.Coins(0.4), {"sex": SEX}), 0.4),
    "survey": (policy(cb.Survey(90, of=300, thin=0.5), {"sex": SEX}), 0.3),
    "biased": (policy(cb.Biased(0.2, 0.25, already_drawn=True), {"sex": SEX}), 0.25),
    "biased with exceptions": (
        policy(cb.Biased(0.2, 0.25, exceptions=2, max_rate=0.3, already_drawn=True), {"sex": SEX}),
        0.3,
    ),
    "strata": (policy(strata(), {"region": REGION, "sex": SEX}), 0.5),
    "strata that are not published": (policy(strata(), {"sex": SEX}), 0.5),
    "strata in several publications": (policy(strata(), {"region": REGION, "sex": SEX}, TWO), 0.5),
    "weights": (policy(cb.Weights("w"), {"w": WEIGHT, "sex": SEX}), 0.4),
    "weights that are not published": (policy(cb.Weights("w", low=0.1, high=0.25), {"sex": SEX}), 0.25),
    "weights in several publications": (
        policy(
            cb.Weights("w"),
            {"w": WEIGHT, "sex": SEX},
            [cb.Table("w", name="a", below_k="noise"), cb.Table("w", "sex", name="b", below_k="noise")],
            split="budget",
        ),
        0.4,
    ),
    "strata of which numbers are published": (
        policy(
            strata(),
            {"region": REGION, "sex": SEX},
            cb.Statistics(cb.fraction({"sex": "f"}, name="women")),
            people=300,
            delta=None,
        ),
        0.5,
    ),
    "drawn here": (policy(strata(already_drawn=False), {"region": REGION, "sex": SEX}, TWO), None),
}


@for_each("name", DRAWN)
def test_the_largest_rate_is_recorded(name: str, tmp_path: Path) -> None:
    made, rate = DRAWN[name]
    frame = pd.DataFrame({"id": range(90), "region": [*RATES] * 30, "sex": ["f", "m"] * 45, "w": 3.0})
    with opened_frame(frame) as held:
        planned = plan(made.with_source(DataSource(source="people", format="frame", frame=held)))
        ledger = cb.Ledger.create(tmp_path / "ledger.sqlite")
        found = pending_release(planned, "/out", ledger, bytes(32), default_engine()).spending
    assert (found.fresh, found.rate) == (rate is None, None if rate is None else pytest.approx(rate, rel=1e-12))


@for_each("publish", [None, TWO])
def test_a_second_table_with_most_of_the_same_people_is_the_same_sample(publish: Any, tmp_path: Path) -> None:
    """Seven of ten people in common: of independent samples at rate 0.5 half would be."""
    made = policy(strata(), {"region": REGION, "sex": SEX}, publish)
    frame = pd.DataFrame({"id": range(3_000), "region": [*RATES] * 1_000, "sex": ["f", "m"] * 1_500})
    ledger = cb.Ledger.create(tmp_path / "ledger.sqlite")
    cb.release(frame, made, out=tmp_path / "one", ledger=ledger, figures=False)
    with pytest.raises(DoesNotCompose):
        cb.release(frame.assign(id=frame.id + 900), made, out=tmp_path / "two", ledger=ledger, figures=False)
