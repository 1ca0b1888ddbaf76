"""Certificates with random edits and a digest that fits: refused in one sentence, or true as they stand.

An edit may turn a certificate into another true one: another target ε with nothing else changed is found out, but a
stated assumption that is dropped, or facts, are not derived from anything.
"""

import copy
import json
import random
from typing import Any

import pytest

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.trusted.calculus import RULES, Certificate, verify
from crowdblend.trusted.calculus.assumptions import Assumption

from .documents import ISSUED, at, places, resealed

SMALL = 60_000
DOCUMENTS = [json.loads(path.read_text(encoding="utf-8")) for path in ISSUED if path.stat().st_size < SMALL]
STRANGE: list[Any] = [None, True, False, 0, 1, -1, 2**70, 0.0, 0.5, 1.0, 1e300, 5e-324]
STRANGE += ["", "epsilon", "\x1b[2K\u202e", [], {}, [[]], {"kind": 3}]
NAMES = [assumption.name for assumption in Assumption]
DERIVED = ("guarantees", "release", "assumptions", "derivations")


def other_value(value: Any, rng: random.Random) -> Any:
    """A value like this one, or a strange one."""
    if rng.random() < 0.3:
        return copy.deepcopy(rng.choice(STRANGE))
    likely: list[Any] = [None]
    if isinstance(value, bool):
        likely = [not value]
    elif isinstance(value, int):
        likely = [value + some for some in (-1, 1, 7, -value, value)]
    elif isinstance(value, float):
        likely = [value * (1 + 2**-50), value * (1 - 2**-50), value / 2, value * 2, -value, 1 - value, 0.0]
    elif isinstance(value, str):
        likely = [value + " ", value[:-1], value.upper(), rng.choice(list(RULES)), rng.choice(NAMES)]
    elif isinstance(value, list):
        likely = [value[1:], value[::-1], value + value[:1], [*value, None], value + value]
    elif isinstance(value, dict):
        likely = [{name: part for name, part in value.items() if rng.random() < 0.8}]
    return rng.choice(likely)


def mutated(rng: random.Random) -> dict[str, Any]:
    """A certificate with one to three edits: changed values, dropped names, parts copied from elsewhere."""
    document: dict[str, Any] = copy.deepcopy(rng.choice(DOCUMENTS))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        every = (place for place in places(document) if place[0] != "digest")
        found = [place for place in every if place[0] in DERIVED or len(place) == 1]
        place = rng.choice(found)
        holder = at(document, place[:-1])
        kind = rng.random()
        if kind < 0.7:
            holder[place[-1]] = other_value(holder[place[-1]], rng)
        elif kind < 0.8:
            del holder[place[-1]]
        elif kind < 0.9 and isinstance(holder, dict):
            holder[rng.choice(["people", "rule", "extra", "k", "kind"])] = copy.deepcopy(rng.choice(STRANGE))
        else:
            donor = rng.choice(DOCUMENTS)
            same = [there for there in places(donor) if there[-1] == place[-1]]
            if same:
                holder[place[-1]] = copy.deepcopy(at(donor, rng.choice(same)))
    return document


def assert_derived(certificate: Certificate, document: dict[str, Any]) -> None:
    """Every derived number of a document is the one that the rules give, to the last type."""
    given, stated = (
        json.dumps({name: part for name, part in whole.items() if name != "digest"}, sort_keys=True)
        for whole in (certificate.to_dict(), document)
    )
    assert given == stated


def check(seed: int, edits: int) -> tuple[int, int]:
    """So many mutations: how many were refused, and how many were true as they stand."""
    rng = random.Random(seed)
    refused = true = 0
    for _ in range(edits):
        document = mutated(rng)
        try:
            text = resealed(document)
        except (ValueError, TypeError):
            continue
        try:
            certificate = verify(text)
        except (DoesNotVerify, InvalidInput) as problem:
            refused += 1
            message = str(problem)
            assert "\n" not in message
            assert message.isprintable()
            assert message.endswith((".", "!"))
            continue
        true += 1
        assert_derived(certificate, document)
    return refused, true


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 22))])
def test_mutations_are_refused_or_true(seed: int) -> None:
    edits = 200 if seed == 1 else 1000
    refused, true = check(seed, edits)
    assert refused > 0.8 * edits
    assert true > 0
