"""The model: its gradient, what it fits, and what it leaves alone."""

from collections.abc import Sequence

import numpy as np
import pytest

from crowdblend.methods.recoding.domain import Domain
from crowdblend.publishing.synthesis.model import Mixture, _Problem, fit
from crowdblend.publishing.synthesis.tables import Floats, PublishedTable, PublishedTables

SIZES = {"a": 2, "b": 3, "c": 4}
EXACT, HIDDEN = 1.0, np.nan


def table(columns: str, estimates: Floats, variance: float = EXACT, high: float = np.inf) -> PublishedTable:
    """A published table by columns of one letter."""
    values = np.asarray(estimates, np.float64)
    return PublishedTable(
        0, columns, tuple(columns), values, np.full(values.shape, variance), np.full(values.shape, high)
    )


def published(*tables: PublishedTable) -> PublishedTables:
    domains = {name: Domain(labels=tuple(f"{name}{at}" for at in range(size))) for name, size in SIZES.items()}
    used = {name for one in tables for name in one.columns}
    return PublishedTables({name: domain for name, domain in domains.items() if name in used}, tables)


def truth(seed: int = 1) -> Mixture:
    """People of two sorts."""
    rng = np.random.default_rng(seed)
    parts = [rng.dirichlet(np.ones(size), 2) for size in SIZES.values()]
    return Mixture(tuple(SIZES), tuple(SIZES.values()), np.array([4000.0, 6000.0]), np.hstack(parts))


def apart(mixture: Mixture, columns: Sequence[str], people: Floats) -> float:
    return float(0.5 * np.abs(mixture.people(columns) - people).sum() / people.sum())


@pytest.mark.parametrize("shapes", [("ab", "bc", "ac"), ("abc",), ("a", "bc"), ("ab", "abc")])
def test_gradient_is_that_of_half_the_squares(shapes):
    true = truth()
    problem = _Problem(published(*(table(one, true.people(tuple(one)), 50.0) for one in shapes)))
    rng = np.random.default_rng(5)
    sizes = [SIZES[name] for name in problem.columns]
    weights = rng.uniform(1000, 3000, 3)
    probabilities = np.hstack([rng.dirichlet(np.ones(size), 3) for size in sizes])

    def half(w: Floats, p: Floats) -> float:
        return problem.misfit(Mixture(problem.columns, tuple(sizes), w, p)) * problem.cells / 2

    by_weight, by_probability = problem._gradient(weights, probabilities)
    for at in range(3):
        step = np.zeros(3)
        step[at] = 1e-2
        slope = (half(weights + step, probabilities) - half(weights - step, probabilities)) / 2e-2
        assert slope == pytest.approx(by_weight[at], rel=1e-4)
    for place in [(0, 0), (1, 3), (2, len(probabilities[0]) - 1)]:
        moved = np.zeros_like(probabilities)
        moved[place] = 1e-6
        slope = (half(weights, probabilities + moved) - half(weights, probabilities - moved)) / 2e-6
        assert slope == pytest.approx(by_probability[place], rel=1e-4)


def test_fit_meets_tables_and_the_one_between_them_that_was_not_published():
    """Of the noise of a table, a hundredth of the people in a cell, hardly any is left."""
    true, rng = truth(), np.random.default_rng(2)
    noisy = [table(one, true.people(tuple(one)) + rng.normal(0, 20, true.people(tuple(one)).shape), 400.0) for one in
             ("ab", "bc", "ac")]  # fmt: skip
    found = fit(published(*noisy), np.random.default_rng(3))
    assert found.misfit < 1
    assert found.mixture.weights.sum() == pytest.approx(10_000, rel=0.01)
    for one in noisy:
        assert apart(found.mixture, one.columns, true.people(one.columns)) < 0.01
    assert apart(found.mixture, "abc", true.people(tuple("abc"))) < 0.03


def test_cells_that_are_not_shown_stay_below_what_they_may_hold():
    true = truth().people(tuple("bc"))
    shown = np.where(true < 700, HIDDEN, true)
    assert np.isnan(shown).sum() >= 2
    found = fit(published(table("bc", shown, 25.0, 700.0)), np.random.default_rng(4)).mixture.people(tuple("bc"))
    hidden = np.isnan(shown)
    assert np.abs(found - true)[~hidden].max() < 40
    assert (found[hidden] < 740).all()


def test_of_two_tables_of_the_same_columns_the_surer_one_counts_more():
    high, low = np.full((2, 3), 200.0), np.full((2, 3), 100.0)
    found = fit(published(table("ab", high, 1.0), table("ab", low, 9.0)), np.random.default_rng(6))
    assert found.mixture.people(tuple("ab")) == pytest.approx(np.full((2, 3), 190.0), rel=0.01)


def test_a_table_that_the_model_does_not_explain_is_kept_nearly_as_it_is():
    """Rows follow the table where the model is nine standard errors off, and the model where it is not."""
    model, errors = truth(), np.where(np.indices((2, 3)).sum(axis=0) % 2, 90.0, -90.0)
    off, near = model.people(tuple("ab")) + errors, model.people(tuple("bc")) + 5.0
    problem = _Problem(published(table("ab", off, 100.0), table("bc", near, 100.0)))
    pairs = problem.shrunk(model)
    assert pairs[:2, 2:5] == pytest.approx(off, abs=90 / 81 + 0.1)
    assert pairs[2:5, :2] == pytest.approx(pairs[:2, 2:5].T)
    assert pairs[2:5, 5:] == pytest.approx(near - 5.0, rel=1e-5)
