"""A weaker premise never gives a stronger conclusion, and parameters move it the way the theory says."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.guarantees.parameters import PARAMETERS
from crowdblend.trusted.guarantees.privacy import Guarantee
from crowdblend.trusted.guarantees.profiles import Profile, Uses
from tests.cases import for_each

from .examples import CASES, EXAMPLES

# Raising these weakens a promise; lowering the crowd size, or the rate a promise holds at, weakens it as well.
_TOTALS = ("step", "drift", "reach", "least_scale")
LARGER_IS_WEAKER = ("epsilon", "delta", "failure", "accuracy", "factor", "width", "sensitivity", *_TOTALS)
SMALLER_IS_WEAKER = ("k", "rate")
TINY = 1e-12


def _weaknesses(promise: Guarantee) -> dict[str, float]:
    if isinstance(promise, Profile):
        sums = {
            name: sum(getattr(use.curve, name, 0) * use.releases for use in promise.uses)
            for name in ("epsilon", "delta", "blend_epsilon")
        }
        smallest = min(getattr(use.curve, "k", 1) for use in promise.uses)
        return {**sums, "samplings": promise.samplings, "releases": promise.releases, "k": -smallest}
    grows = {
        name: getattr(promise, name)
        for name in ("epsilon", "delta", "samplings", "failure", "accuracy", *_TOTALS)
        if hasattr(promise, name)
    }
    return {**grows, **({"k": -promise.k} if hasattr(promise, "k") else {})}


def _weakened(premise: Guarantee) -> Iterator[tuple[str, Guarantee]]:
    if isinstance(premise, Profile):
        yield from _weaker_profiles(premise)
        return
    for name in LARGER_IS_WEAKER:
        value = getattr(premise, name, None)
        if value is not None:
            for larger in (value * (1 + 1e-9) + TINY, value * 1.3 + 1e-9, value * 2 + 1e-3):
                if PARAMETERS[name].allows(larger):
                    yield name, replace(premise, **{name: larger})
    if getattr(premise, "samplings", None) is not None:
        yield from (("samplings", replace(premise, samplings=premise.samplings + more)) for more in (1, 2))
    for name in SMALLER_IS_WEAKER:
        value = getattr(premise, name, None)
        if value is not None:
            for smaller in (value - 1, value // 2) if name == "k" else (value * 0.999, value * 0.7):
                if PARAMETERS[name].allows(smaller):
                    yield name, replace(premise, **{name: smaller})


def _weaker_profiles(premise: Profile) -> Iterator[tuple[str, Guarantee]]:
    """A weaker curve in the place of each, as often; or the same curve once more; or more samplings."""
    yield from (("samplings", replace(premise, samplings=premise.samplings + more)) for more in (1, 2))
    for place, use in enumerate(premise.uses):
        weaker = [Uses(use.curve, use.releases + 1)]
        if hasattr(use.curve, "k"):
            weaker.append(Uses(replace(use.curve, k=use.curve.k - 1), use.releases))
        if hasattr(use.curve, "epsilon"):
            weaker.append(Uses(replace(use.curve, epsilon=use.curve.epsilon * 1.3), use.releases))
            weaker.append(Uses(replace(use.curve, delta=use.curve.delta * 2 + 1e-6), use.releases))
        for other in weaker:
            uses = (*premise.uses[:place], other, *premise.uses[place + 1 :])
            yield f"use {place}", replace(premise, uses=uses)


def _weaker_premises(premises: tuple[Guarantee, ...]) -> Iterator[tuple[Guarantee, ...]]:
    for place, premise in enumerate(premises):
        for _, weaker in _weakened(premise):
            yield (*premises[:place], weaker, *premises[place + 1 :])
    # Rules over several like premises ask them to agree, so they are weakened together too.
    if len({type(premise) for premise in premises}) == 1 < len(premises):
        yield from zip(*([weaker for _, weaker in _weakened(premise)] for premise in premises), strict=False)


@for_each("rule_id", [rule_id for rule_id, examples in EXAMPLES.items() if examples[0].premises])
def test_a_weaker_premise_never_gives_a_stronger_conclusion(rule_id: str) -> None:
    found, tried = RULES[rule_id], 0
    for example in EXAMPLES[rule_id]:
        before = _weaknesses(found.conclude(*example.premises, **example.parameters))
        for premises in _weaker_premises(example.premises):
            try:
                after = _weaknesses(found.conclude(*premises, **example.parameters))
            except InvalidInput:
                continue
            tried += 1
            assert all(after[name] >= before[name] for name in before), (premises, before, after)
    assert tried > 0


@for_each("rule_id", [rule_id for rule_id, examples in EXAMPLES.items() if len(examples[0].premises) > 1])
def test_every_premise_counts(rule_id: str) -> None:
    """None is left out for another: where a number of a premise grows, the conclusion is another in some example."""
    found, counts = RULES[rule_id], dict[tuple[int, str], bool]()
    for example in EXAMPLES[rule_id]:
        before = found.conclude(*example.premises, **example.parameters)
        for place, premise in enumerate(example.premises):
            for name, weaker in _weakened(premise):
                try:
                    premises = (*example.premises[:place], weaker, *example.premises[place + 1 :])
                    after = found.conclude(*premises, **example.parameters)
                except InvalidInput:
                    continue
                counts[place, name] = counts.get((place, name), False) or after != before
    # A promise under sampling holds at its rate; which rate that is, its number says already.
    assert [where for where, grows in counts.items() if not grows and where[1] != "rate"] == []
    assert any(counts.values())


@for_each(
    ("rule_id", "number", "name", "result"),
    [(rule_id, number, *move) for rule_id, number in CASES for move in EXAMPLES[rule_id][number].moves],
)
def test_parameters_move_the_conclusion_as_the_theory_says(rule_id: str, number: int, name: str, result: str) -> None:
    example, tried = EXAMPLES[rule_id][number], 0
    start, sign = example.parameters[name], example.moves[name, result]
    last = None
    for value in _ladder(name, start):
        try:
            made = RULES[rule_id].conclude(*example.premises, **{**example.parameters, name: value})
        except InvalidInput:
            continue
        reached = getattr(made, result)
        if last is not None:
            tried += 1
            assert sign * (reached - last) >= 0, (value, last, reached)
        last = reached
    assert tried > 0


def _ladder(name: str, start: float) -> list[Any]:
    """A few rising values around the example's own."""
    if PARAMETERS[name].whole:
        steps = sorted({start // 2, start - 1, start, start + 1, start + 2, 2 * start})
    else:
        steps = [start * factor for factor in (0.9, 0.97, 1, 1.03, 1.1)]
    return [value for value in steps if PARAMETERS[name].allows(value)]
