"""Golden certificates, as they are written down and as somebody else computes what they guarantee."""

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdblend.trusted.calculus import Certificate, Derivation
from crowdblend.trusted.calculus.certificate import node
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from tests.golden import independent as own
from tests.golden.releases import POLICIES, PROGRAMMES
from tests.laws import scans
from tests.publishing.test_mutated_certificates import honest

CERTIFICATES = Path(__file__).parent / "certificates.txt"
GOLDEN = POLICIES | PROGRAMMES


def described(certificate: Certificate) -> str:
    """The guarantees, what they assume, and the steps that lead to each of them."""
    lines, known = [], dict[str, int]()
    for made in certificate.derivations:
        lines.append(f"{type(made.conclusion).__name__} {_numbers(vars(made.conclusion))}")
        lines += _steps(made, known, 1)
    assumed = sorted({one.assumption.name for step in certificate.steps() for one in step.own_assumptions()})
    return "\n".join([*lines, f"assumes {' '.join(assumed)}"])


def _steps(step: Derivation, known: dict[str, int], depth: int) -> list[str]:
    """The steps below one, each with its conclusion where it is first drawn."""
    indent = "  " * depth
    key = json.dumps(node(step))
    if key in known:
        return [f"{indent}step {known[key]} again"]
    known[key] = len(known) + 1
    line = f"{indent}{known[key]} {step.rule.id} {_numbers(step.parameters)}".rstrip()
    return [line, *(one for premise in step.premises for one in _steps(premise, known, depth + 1))]


def _numbers(values: Any) -> str:
    return " ".join(f"{name}={getattr(value, 'value', value)!r}" for name, value in values.items())


def written() -> dict[str, str]:
    """The certificates that are written down, by the name of their release."""
    parts = CERTIFICATES.read_text(encoding="utf-8").split("\n# ")[1:]
    return {name: text.rstrip("\n") for name, text in (part.split("\n", 1) for part in parts)}


def test_certificates_are_those_that_are_written_down() -> None:
    """`CROWDBLEND_WRITE_GOLDEN=1 python -m pytest tests/golden/test_guarantees.py` writes them again, to be read."""
    found = {name: described(honest(name)) for name in GOLDEN}
    if os.environ.get("CROWDBLEND_WRITE_GOLDEN"):
        head = (
            "Guarantees of the golden releases, with the steps that derive them; test_guarantees.py writes this file.\n"
        )
        CERTIFICATES.write_text(head + "".join(f"\n# {name}\n{text}\n" for name, text in found.items()), "utf-8")
        return
    assert written().keys() == found.keys()
    for name, text in found.items():
        assert text == written()[name], name


def stated(name: str) -> Differential:
    """What is guaranteed with one person more or less; of a survey of a fixed size, with one replaced."""
    guarantees = [one.conclusion for one in honest(name).derivations]
    return next(one for one in guarantees if isinstance(one, Differential))


def facts_of(name: str) -> Any:
    return honest(name).facts


def _crowds(mechanism: Any, rate: float, person: float | None = None) -> list[own.Pair]:
    if mechanism["mechanism"] == "noisy-below-k":
        return own.noisy_crowd(mechanism["k"], mechanism["noise_epsilon"], mechanism["flag"], rate, person)
    return own.crowd(mechanism["k"], rate, person)


def _plain(facts: Any, factor: float) -> float:
    """A table or microdata of a sample at one rate."""
    return max(own.worst(_crowds(facts["mechanism"], facts["design"]["rate"]), factor))


def _threshold(facts: Any, factor: float) -> float:
    noise = facts["mechanism"]
    pairs = own.threshold(noise["noise_epsilon"], noise["show_from"])
    return max(own.sampled(pairs, facts["design"].get("rate", 1.0), factor))


def _outliers(facts: Any, factor: float) -> float:
    noise = facts["mechanism"]
    return max(own.worst(own.sized(noise["epsilon"], noise["transition"], noise["limit"]), factor))


def _points(facts: Any, factor: float) -> float:
    noise = facts["mechanism"]
    return max(own.points(noise["k"], noise["noise_epsilon"], facts["design"]["rate"], factor))


def _biased(facts: Any, factor: float) -> float:
    """The bound of the theorem, by a scan, which is far above the law of any crowd whose rates are one of both ends."""
    k, design = facts["mechanism"]["k"], facts["design"]
    ends = design["low"], design["high"], design["exceptions"], design["max_rate"]
    found = float(scans.robust(k, 0.0, *ends, math.log(factor)))
    for rate in ends[:2]:
        pairs = _among_exceptions(k, rate, design["exceptions"], design["max_rate"])
        assert max(own.worst(pairs, factor)) <= found
    return found


def _among_exceptions(k: int, rate: float, surely: int, person: float) -> list[own.Pair]:
    """Crowds of people with one rate, of some who are surely there, and of a person with a rate of their own."""
    found = []
    for n in own.sizes(k, rate):
        without = np.roll(own.counts(n, rate), surely)
        with_person = person * np.roll(without, 1) + (1 - person) * without
        found.append((own.suppressed(k, with_person), own.suppressed(k, without)))
    return found


def _chosen_by_everybody(facts: Any, factor: float) -> float:
    """What the choice costs is taken from ε."""
    return _plain(facts, factor / math.exp(facts["recoding"]["choice"]["epsilon"]))


def _chosen_by_a_part(facts: Any, factor: float) -> float:
    """The released part is a sample of everybody else; ε is a mean over the two cases of the person."""
    rate, chosen = facts["design"]["rate"], facts["recoding"]["share"]
    choosing = rate * chosen
    kept = (factor - choosing * math.exp(facts["recoding"]["choice"]["epsilon"])) / (1 - choosing)
    return max(own.worst(own.crowd(facts["mechanism"]["k"], rate * (1 - chosen) / (1 - choosing)), kept))


def _parts(facts: Any, factor: float) -> float:
    """The average over the parts of what each costs a person who is in any, others being in the part or in none.

    Of what a median of incomes and a count lose together the whole is spent, so that nothing is beyond it.
    """
    found = []
    strata = facts["design"].get("strata") or {None: {"rate": facts["design"].get("rate")}}
    for label, stratum in strata.items():
        parts = [one for name in facts["published"] for one in _parts_of(facts["published"][name], label)]
        rate, total = stratum["rate"], sum(share for share, _ in parts)
        together, whole = rate * total, [0.0, 0.0]
        for share, mechanism in parts:
            alone = rate * share / (1 - together + rate * share)
            for way, value in enumerate(_in_a_part(mechanism, alone, together, factor)):
                whole[way] += share / total * value
        found.append(max(whole))
    return max(found)


def _parts_of(publication: Any, label: str | None) -> list[tuple[float, Any]]:
    facts, share = publication["facts"], publication["share"]
    mechanism = facts.get("mechanism") if label is None else facts["strata"][label]
    chosen = facts.get("recoding")
    if chosen is None:
        return [(share, mechanism)]
    return [
        (share * chosen["share"], {"mechanism": "choice", **chosen["choice"]}),
        (share * (1 - chosen["share"]), mechanism),
    ]


def _in_a_part(mechanism: Any, alone: float, together: float, factor: float) -> tuple[float, float]:
    match mechanism and mechanism["mechanism"]:
        case None:
            return 0.0, 0.0
        case "choice":
            return own.sampled([own.shifted(mechanism["epsilon"])], together, factor)
        case "noisy-by-size":
            pairs = own.sized(mechanism["epsilon"], mechanism["transition"], mechanism["limit"])
            return own.sampled(pairs, together, factor)
        case _:
            return own.worst(_crowds(mechanism, alone, together), factor)


def _twice(facts: Any, factor: float) -> float:
    """Two crowds with coins of their own, of the same size or one of them larger."""
    k = next((one["facts"]["mechanism"]["k"] for one in facts.get("published", {}).values()), None)
    crowds = own.crowd(k or facts["mechanism"]["k"], facts["design"]["rate"])
    middle = crowds[len(crowds) // 8 :: 2][: len(crowds) // 8]
    trimmed = [(p[:150], q[:150]) for p, q in middle]
    return max(max(own.both_ways(own.product(a, b), factor)) for a in trimmed[::3] for b in trimmed[::3])


def _normal(facts: Any, factor: float) -> float:
    sigmas = [one["facts"]["mechanism"]["sigma"] for one in facts["published"].values()]
    return own.gaussian(sigmas, math.log(factor))


def _threshold_and_noise(facts: Any, factor: float) -> float:
    first, second = (one["facts"]["mechanism"] for one in facts["published"].values())
    noise = own.shifted(second["noise_epsilon"])
    pairs = [own.product(one, noise) for one in own.threshold(first["noise_epsilon"], first["show_from"])]
    return max(own.worst(pairs, factor))


# By which factor a bound may exceed the truth that is found here: what is attained, and where sizes are the worst ones
# at every ε at once, or a grid or a proof costs something.
ATTAINED, FINE, COARSE = 1e-9, 0.05, 5.0
DELTAS: dict[str, tuple[Callable[[Any, float], float], float]] = {
    **dict.fromkeys(
        ("table", "table-drawn", "table-rows", "table-text", "table-one", "table-open"), (_plain, ATTAINED)
    ),
    **dict.fromkeys(("table-noise", "table-flag", "microdata"), (_plain, ATTAINED)),
    **dict.fromkeys(("table-threshold", "table-threshold-drawn"), (_threshold, ATTAINED)),
    "outlier-table": (_outliers, ATTAINED),
    "points": (_points, FINE),
    "table-biased": (_biased, ATTAINED),
    "table-population": (_chosen_by_everybody, ATTAINED),
    "table-split": (_chosen_by_a_part, ATTAINED),
    "microdata-visits": (_twice, COARSE),
    **dict.fromkeys(("programme-people", "programme-choose", "programme-drawn"), (_parts, ATTAINED)),
    **dict.fromkeys(("programme-years", "programme-strata"), (_parts, ATTAINED)),
    "programme-fresh": (_twice, COARSE),
    "programme-gaussian": (_normal, FINE),
    "programme-threshold": (_threshold_and_noise, ATTAINED),
}


@pytest.mark.parametrize("name", DELTAS)
def test_delta_is_what_somebody_else_computes(name: str) -> None:
    """Never below it, and as near to it as is said."""
    truth, above = DELTAS[name]
    claimed = stated(name)
    found = truth(facts_of(name), math.exp(claimed.epsilon))
    assert claimed.relation is Relation.ADD_REMOVE
    assert found * (1 - 1e-9) <= claimed.delta <= found * (1 + above)


def _survey(loss: float, facts: Any) -> float:
    """Noise that hides one replaced person of a survey hides everybody better: most were not asked."""
    return own.amplified(loss, facts["design"]["people"] / facts["design"]["of"])


def _statistics(facts: Any) -> float:
    """A person replaced moves a share or a count by a step, a total by all of its steps, and two bins by one."""
    loss = 0.0
    for one in facts["statistics"].values():
        steps = 1
        if "average" in one:
            bounds = facts["columns"][one["average"]][-1]
            steps = round((bounds["to"] - bounds["from"]) / bounds["resolution"])
        loss += one["noise_epsilon"] * (2 if "histogram" in one else steps)
    return _survey(loss, facts)


def _bands(facts: Any) -> float:
    """Replacing links moves at most 2d people from band to band, and every band may be rounded by a step."""
    (one,) = facts["statistics"]
    moved = 4 * facts["degree_bound"] / facts["people"] + (len(one["breaks"]) + 1) * one["resolution"]
    return float(moved / one["scale"])


def _network(facts: Any) -> float:
    """One person's links replaced: two of n people's links change a share, and twice the bound a mean of degrees."""
    moved = {"connectivity": 2.0, "average-degree": 2.0 * facts["degree_bound"]}
    return sum((moved[one["name"]] / facts["people"] + one["resolution"]) / one["scale"] for one in facts["statistics"])


def _noise_of(facts: Any) -> float:
    """The sum of the losses of tables about the same people."""
    made = [one["facts"] for one in facts["published"].values() if one["facts"]["kind"] == "table"]
    loss = sum(one["mechanism"]["noise_epsilon"] for one in made)
    return own.amplified(loss, facts["design"].get("rate", 1.0))


def _visits(facts: Any) -> float:
    """Each of a person's rows is in a cell and in the number of rows; the person counts once among people."""
    rows = facts["mechanism"]["rows_per_person"]
    return rows * facts["mechanism"]["noise_epsilon"] + sum(
        total["noise_epsilon"] * (rows if total["name"] == "rows" else 1) for total in facts["totals"]
    )


EPSILONS: dict[str, Callable[[Any], float]] = {
    "table-register": lambda facts: facts["mechanism"]["noise_epsilon"],
    "table-visits": _visits,
    "statistics": _statistics,
    "statistics-rows": _statistics,
    # All pairs of three columns are measured, and a person replaced moves two counts of each.
    "synopsis": lambda facts: _survey(6 * facts["mechanism"]["noise_epsilon"], facts),
    "synopsis-chosen": lambda facts: _survey(facts["mechanism"]["epsilon"], facts),
    "synthetic": _noise_of,
    "graph": _network,
    "graph-degrees": _bands,
    "programme-budget": _noise_of,
    "programme-register": _noise_of,
}


@pytest.mark.parametrize("name", EPSILONS)
def test_epsilon_is_what_somebody_else_computes(name: str) -> None:
    """Where noise is all that hides people: δ is 0, but for what a grid of losses leaves."""
    claimed, found = stated(name), EPSILONS[name](facts_of(name))
    assert found * (1 - 1e-9) <= claimed.epsilon <= found * (1.003 if name == "programme-budget" else 1 + 1e-9)
    assert claimed.delta < 1e-30


def test_every_golden_release_is_computed_by_somebody_else() -> None:
    assert DELTAS.keys() | EPSILONS.keys() == GOLDEN.keys()
    assert not DELTAS.keys() & EPSILONS.keys()


@pytest.mark.parametrize("name", GOLDEN)
def test_replacing_a_person_is_removing_and_adding_one(name: str) -> None:
    """(2ε, (1 + e^ε)δ), or less where the loss is known at every ε."""
    made = [one.conclusion for one in honest(name).derivations if isinstance(one.conclusion, Differential)]
    once = next((one for one in made if one.relation is Relation.ADD_REMOVE), None)
    if once is None:
        return
    replaced = next(one for one in made if one.relation is Relation.REPLACE)
    assert replaced.epsilon == pytest.approx(2 * once.epsilon, rel=1e-12)
    assert replaced.delta <= (1 + math.exp(once.epsilon)) * once.delta * (1 + 1e-9) + 1e-36
