"""A made-up town of groups with very different incomes, and what is true of it, for statistics in groups."""

import io
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from crowdblend.kinds.shared.outputs import NumbersOutput
from crowdblend.kinds.shared.plan import Reading
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines.memory import MemoryEngine
from crowdblend.trusted.randomness import ReleaseKey, new_key
from tests.plans import plan
from tests.policies import policies

PEOPLE = 4_000
GROUPS = ("a", "b", "c")
SHARES = (0.6, 0.3, 0.1)
POLICY = policies.policy_text(
    data='source = "people.csv"\nperson = "id"\npeople = 4000',
    sampling="{sampling}",
    columns="{columns}",
    privacy="epsilon = {epsilon}",
    release='format = "csv"',
    publish='kind = "statistics"\n{more}\n{statistics}',
)
COLUMNS = {
    "group": '{ values = ["a", "b", "c"] }',
    "sex": '{ values = ["f", "m"] }',
    "income": "{ from = 0, to = 100000, resolution = 500 }",
    "change": "{ from = -50, to = 50, resolution = 1 }",
}


def group_of(row: Mapping[str, Any]) -> str | None:
    """The labels of the group that a published number is about, in one text; None where it is about everybody."""
    numbers = ("statistic", "value", "error", "rank_error", "estimate", "low", "high")
    return " / ".join(str(label) for name, label in row.items() if name not in numbers and label) or None


def people(seed: int = 3) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    group = rng.choice(GROUPS, PEOPLE, p=SHARES)
    level = np.select([group == "a", group == "b"], [10.2, 10.6], 11.0)
    income = np.clip(np.exp(level + rng.normal(0, 0.5, PEOPLE)), 0, 100_000)
    # A fifth has nothing at all: many people share one value.
    income = np.where(rng.random(PEOPLE) < 0.2, 0, np.round(income / 500) * 500).astype(int)
    change = np.clip(np.round(rng.normal(5, 20, PEOPLE)), -50, 50).astype(int)
    sex = rng.choice(["f", "m"], PEOPLE)
    columns = {"group": group, "sex": sex, "income": income, "change": change}
    return {"id": list(range(1, PEOPLE + 1)), **{name: column.tolist() for name, column in columns.items()}}


def policy_text(*statistics: str, sampling: str = 'design = "everybody"', epsilon: float = 1.0, more: str = "") -> str:
    """A policy of these statistics, with the columns that they are about."""
    listed = "\n".join(f'[[publish.statistics]]\nname = "s{place}"\n{text}\n' for place, text in enumerate(statistics))
    words = set(re.findall(r"\w+", listed))
    columns = "\n".join(f"{name} = {domain}" for name, domain in COLUMNS.items() if name in words)
    return POLICY.format(sampling=sampling, columns=columns, epsilon=epsilon, more=more, statistics=listed)


class Town:
    """The town, released again and again."""

    def __init__(self, *statistics: str, **named: object) -> None:
        self.plan = plan(parse_policy(policy_text(*statistics, **named)).only)
        self.columns = people()
        self._arrays = {name: np.array(column) for name, column in self.columns.items()}
        names, *values = (list(self.columns), *zip(*self.columns.values(), strict=True))
        self._engine = MemoryEngine(names, [(tuple(map(str, row)), 1) for row in values])
        self._reading: Reading | None = None

    def publish(self) -> pa.Table:
        """One release as a table; where everybody is counted, the people are read once."""
        key = ReleaseKey(new_key())
        everybody = self.plan.policy.samples == self.plan.policy.people
        if self._reading is None or not everybody:
            self._reading = self.plan.read(self._engine, key)
            key = ReleaseKey(new_key()) if everybody else key
        (output,) = self.plan.publish(self._reading, key).outputs
        assert isinstance(output, NumbersOutput)
        return pa.table(dict(output.values))

    def of(self, column: str, **where: str) -> np.ndarray:
        """The values of a column of people with these values in others."""
        keep = np.ones(PEOPLE, dtype=bool)
        for name, value in where.items():
            keep &= self._arrays[name] == value
        return self._arrays[column][keep]


def rank_holds(values: np.ndarray, at: float, found: float, error: float) -> bool:
    """Whether a published value is a quantile at a share within `error` of `at`, by the definition."""
    below, upto = (values < found).mean(), (values <= found).mean()
    return bool(below - error <= at <= upto + error)


def as_csv(columns: dict[str, list[object]]) -> bytes:
    sink = io.BytesIO()
    csv.write_csv(pa.table(columns), sink)
    return sink.getvalue()
