"""Programme policies with something wrong: refused with one sentence and a remedy, or planned; nothing else happens."""

import copy
import random
from decimal import Decimal
from typing import Any

import pytest

from crowdblend.errors import CrowdblendError
from crowdblend.kinds import plan
from crowdblend.policies.load import read_policy

POLICY: dict[str, Any] = {
    "data": {"person": "id", "population": "town", "people": 20_000},
    "sampling": {"design": "poisson", "rate": Decimal("0.1")},
    "privacy": {"epsilon": Decimal(1), "delta": Decimal("1e-6"), "split": "people"},
    "columns": {
        "sex": {"values": ["f", "m"]},
        "age": {"from": 0, "to": 90, "width": 30},
        "income": {"from": 0, "to": 1000, "resolution": 10},
    },
    "publish": [
        {"kind": "table", "name": "a", "columns": ["sex", "age"], "share": Decimal("0.5")},
        {"kind": "microdata", "name": "b", "columns": ["sex"], "share": Decimal("0.2")},
        {"kind": "statistics", "name": "c", "share": Decimal("0.2"), "statistics": [{"name": "m", "median": "income"}]},
    ],
}
# The same with a recoding that one more part chooses.
CHOOSING: dict[str, Any] = POLICY | {
    "columns": POLICY["columns"] | {"age": {"from": 0, "to": 90, "width": [30, 90]}},
    "recoding": {"epsilon": Decimal("0.5"), "using": "split", "share": Decimal("0.1")},
}
VALUES: tuple[Any, ...] = (
    *(None, True, "", "a", "poisson", "coins", "everybody", "survey", "strata", "fresh", "budget", "noise", "table"),
    *(0, 1, -1, 2, 10**12, Decimal("0.5"), Decimal("1e-300"), Decimal("NaN"), Decimal("1.0000001")),
    *([], {}, ["sex"], ["nobody"], [["sex"]], {"values": []}, [{}], "\0", "x" * 500),
)
NAMES = ("k", "name", "share", "kind", "rate", "design", "epsilon", "delta", "releases", "split", "columns", "weight")


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a policy."""
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [found for key, value in inside for found in ((*path, key), *places(value, (*path, key)))]


def mutated(seed: int) -> dict[str, Any]:
    """The policy with one to three mistakes."""
    chance, policy = random.Random(seed), copy.deepcopy(CHOOSING if seed % 3 == 0 else POLICY)
    for _ in range(chance.randint(1, 3)):
        path = chance.choice(places(policy))
        holder: Any = policy
        for step in path[:-1]:
            holder = holder[step]
        way = chance.choice(("drop", "change", "rename", "add", "twice"))
        if way == "drop":
            del holder[path[-1]]
        elif way == "change":
            holder[path[-1]] = copy.deepcopy(chance.choice(VALUES))
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[path[-1]]))
        elif way == "rename":
            holder[chance.choice(NAMES)] = holder.pop(path[-1])
        else:
            holder[chance.choice(NAMES)] = copy.deepcopy(chance.choice(VALUES))
        if not places(policy):
            break
    return policy


def refusal_of(policy: dict[str, Any]) -> CrowdblendError | None:
    """How a policy is refused; None where it is planned."""
    try:
        plan(read_policy(policy))
    except CrowdblendError as refused:
        return refused
    return None


def check(seeds: range) -> tuple[int, int]:
    """How many were planned and how many refused; whatever else happens names its seed."""
    planned = 0
    for seed in seeds:
        try:
            refused = refusal_of(mutated(seed))
        except Exception as crash:
            raise AssertionError(f"seed {seed}: {type(crash).__name__}: {crash}") from crash
        if refused is None:
            planned += 1
            continue
        assert refused.message.strip(), seed
        assert "\n" not in str(refused), seed
        assert refused.exit_code in (1, 2), seed
    return planned, len(seeds) - planned


def test_mutated_programmes_are_planned_or_refused_in_one_sentence():
    planned, refused = check(range(300))
    assert planned > 3
    assert refused > 150


@pytest.mark.slow
def test_many_mutated_programmes_are_planned_or_refused_in_one_sentence():
    planned, refused = check(range(20_000))
    assert planned > 200
    assert refused > 10_000
