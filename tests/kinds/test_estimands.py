"""What a statistic can be of: a class for each, which everything else asks."""

import ast
from fractions import Fraction
from pathlib import Path

import numpy as np

import crowdblend
from crowdblend.kinds.statistics.estimands import ESTIMANDS, Subject, SubjectFacts
from crowdblend.methods.planning.statistics.accuracy import Shape
from crowdblend.methods.recoding.bounded_recoding import BoundedRecoding
from tests.cases import for_each

SOURCE = Path(crowdblend.__file__).parent
BOUNDS = {
    "from 0": BoundedRecoding(0, 20, 2),
    "above 0": BoundedRecoding(10, 20, 2),
    "negative": BoundedRecoding(-6, 4, 2),
}
PEOPLE = 60


def test_every_estimand_has_its_key_in_policies_and_in_facts() -> None:
    assert set(ESTIMANDS) == set(Subject.__struct_fields__) - {"name", "at"}
    assert set(ESTIMANDS) == set(SubjectFacts.__struct_fields__) - {"way", "noise_epsilon", "samples", "at"}


def test_nobody_else_asks_what_a_statistic_is_of() -> None:
    found = []
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                asked = any(isinstance(one, ast.Attribute) and one.attr == "what" for one in sides)
                texts = {one.value for side in sides for one in ast.walk(side) if isinstance(one, ast.Constant)}
                found += [f"{file.name}:{node.lineno}"] if asked and texts & set(ESTIMANDS) else []
    assert found == []


@for_each("key", ESTIMANDS)
def test_the_totals_of_people_give_the_number_back(key: str) -> None:
    """Exact totals of made-up people come to their true number, which lies within what is possible."""
    estimand = ESTIMANDS[key](Fraction(1, 2))
    if estimand.is_quantile:
        return  # chosen, and not computed of totals
    for name, bounds in BOUNDS.items():
        steps = np.random.default_rng(7).integers(0, bounds.steps + 1, PEOPLE)
        for of_some in (False, True) if estimand.measured else (False,):
            measure = bounds if estimand.measured else None
            shape, width = estimand.shape(measure, 1, of_some, 1.0), estimand.width(measure, of_some)
            assert isinstance(shape, Shape)
            added = estimand.added(bounds) if of_some else [np.arange(bounds.steps + 1)]
            totals = [int(one[steps].sum()) for one in added] if estimand.measured else [PEOPLE // 3]
            assert len(totals) == width
            # What everybody adds to the totals of their group is what the noise was planned for.
            assert not of_some or max(sum(abs(one[step]) for one in added) for step in steps) <= shape.steps
            values = float(bounds.ends[0]) + float(bounds.resolution) * steps
            true = {"average": values.mean(), "sum": values.sum(), "fraction": 1 / 3}.get(key, PEOPLE // 3)
            if estimand.is_share and width > 1:
                start, stop = map(float, estimand.ends(measure))
                found = start + (stop - start) * totals[1] / sum(totals)
            elif width > 1:
                found = estimand.value_of_totals(totals, bounds, PEOPLE, PEOPLE)
            else:
                mean = Fraction(totals[0], PEOPLE)
                found = estimand.value(mean, measure, PEOPLE, of_some)
                assert abs(estimand.steps(Fraction(found), measure, PEOPLE, of_some) - mean) < 1e-9
            low, high = estimand.possible(measure, PEOPLE)
            assert abs(found - true) < 1e-9 * max(1.0, abs(true)), (name, of_some)
            assert low <= found <= high
            assert abs(found) <= estimand.largest(measure, PEOPLE)
