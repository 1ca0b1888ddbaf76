"""Classes of queries by brute force, the fit and its repair, the rows, and the stated error over many runs."""

import math
from collections import Counter
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from scipy.stats import binom

from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.methods.mechanisms.synopsis import rows as rows_module
from crowdblend.methods.mechanisms.synopsis import synopses, synopsis_plans
from crowdblend.methods.mechanisms.synopsis.conjunctions import Conjunctions, conjunctions
from crowdblend.methods.mechanisms.synopsis.queries import QueryClass, list_conjunctions, ranges
from crowdblend.methods.mechanisms.synopsis.rows import (
    count_rows,
    fit,
    most_gain,
    random_rows,
    repair,
    rows_like,
    shares,
)
from crowdblend.methods.mechanisms.synopsis.synopses import ExponentialSynopsis, FittedSynopsis
from crowdblend.methods.mechanisms.synopsis.synopsis_plans import plan_synopsis
from crowdblend.trusted.randomness import SeededSource
from tests.cases import for_each

CLASSES: list[QueryClass] = [
    Conjunctions((3, 2, 4), 2, add_up=0),
    Conjunctions((3, 2, 4), 2, add_up=2),
    Conjunctions((3, 2, 4), 2, add_up=100),
    Conjunctions((2, 5), 1),
    Conjunctions((2, 2, 3, 2), 3, add_up=4),
    Conjunctions((2, 3), 2),
    ranges(5),
    ranges(7),
    ranges(1),
    list_conjunctions((2, 3), [{0: 1}, {1: 2}, {0: 0, 1: 1}]),
]


def table_for(queries: QueryClass, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 9, queries.shape)


@for_each("queries", CLASSES)
def test_every_answer_counts_the_cells_that_satisfy_the_query(queries: QueryClass) -> None:
    table = table_for(queries)
    expected = [table[queries.where(query)].sum() for query in range(queries.size)]
    assert queries.ask(table).tolist() == expected
    assert queries.answers(queries.counts(table)).tolist() == expected
    assert (queries.matrix() @ table.ravel()).tolist() == expected
    assert np.allclose(queries.ask(table / 3.0), np.array(expected) / 3)


@for_each("queries", CLASSES)
def test_one_person_moves_the_measured_counts_by_the_stated_sensitivity_at_most(queries: QueryClass) -> None:
    """Every replacement and every concealment of a row, by brute force."""
    single = [queries.counts(count_rows(np.array([cell]), queries.shape)) for cell in range(queries.universe)]
    single.append(queries.counts(count_rows(np.array([-1]), queries.shape)))
    moved = max((np.abs(one - other).sum() for one, other in combinations(single, 2)), default=0)
    assert moved <= queries.sensitivity
    if isinstance(queries, Conjunctions):
        assert moved == queries.sensitivity


@for_each("queries", CLASSES)
def test_an_answer_adds_up_at_most_the_stated_number_of_counts(queries: QueryClass) -> None:
    measured = len(queries.counts(table_for(queries)))
    added = sum(queries.answers(row) for row in np.eye(measured))
    assert added.max() == queries.parts


@for_each("queries", CLASSES[5:])
def test_the_vc_dimension_is_not_exceeded(queries: QueryClass) -> None:
    satisfied = queries.matrix()
    size = queries.dimension + 1
    for cells in combinations(range(queries.universe), size):
        assert len(np.unique(satisfied[:, cells], axis=0)) < 2**size


def test_all_conjunctions_are_there_once() -> None:
    queries = Conjunctions((2, 3, 2), 2)
    found = {tuple(row) for row in queries.matrix().tolist()}
    expected = set()
    for columns in [*combinations(range(3), 1), *combinations(range(3), 2)]:
        for values in product(*(range((2, 3, 2)[c]) for c in columns)):
            cells = product(range(2), range(3), range(2))
            wanted = dict(zip(columns, values, strict=True))
            expected.add(tuple(int(all(cell[c] == v for c, v in wanted.items())) for cell in cells))
    assert found == expected
    assert len(found) == queries.size


@for_each(
    ("make", "word"),
    [
        (lambda: Conjunctions((2, 2), 3), "between 1 and 2 columns"),
        (lambda: Conjunctions((2, 2), 0), "between 1 and 2 columns"),
        (lambda: Conjunctions((200, 200, 200), 2), "4,000,000"),
        (lambda: Conjunctions((1500, 1500), 2), "1,000,000 queries"),
        (lambda: ranges(201), "200 values"),
        (lambda: list_conjunctions((2,), []), "at least one"),
        (lambda: list_conjunctions((2000, 1000), [{0: 1}] * 100), "List fewer"),
        (lambda: ExponentialSynopsis(Conjunctions((4, 4), 2), 1.0, 30), "candidate tables"),
    ],
)
def test_what_is_too_large_is_refused_in_one_sentence(make, word) -> None:
    with pytest.raises(InvalidInput, match=word) as caught:
        make()
    assert "\n" not in str(caught.value)


@for_each("queries", [CLASSES[0], CLASSES[6], CLASSES[7], CLASSES[-1]])
@for_each("seed", range(3))
def test_the_fit_agrees_with_noisy_answers_when_some_distribution_does(queries: QueryClass, seed: int) -> None:
    random = np.random.default_rng(seed)
    truth = random.dirichlet(np.full(queries.universe, 0.3)).reshape(queries.shape)
    noisy = queries.counts(truth) + random.uniform(-0.02, 0.02, len(queries.counts(truth)))
    noise = float(np.abs(queries.answers(noisy) - queries.ask(truth)).max())
    p = fit(queries, noisy, variance=1e-4, noise=noise, slack=noise / 8)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1)
    assert np.abs(queries.ask(p) - queries.answers(noisy)).max() <= noise * 1.125


@for_each("queries", [CLASSES[0], CLASSES[7], CLASSES[9]])
def test_repair_ends_from_anywhere(queries: QueryClass) -> None:
    """From a distribution on one cell to a truth on another: as far away as can be."""
    truth, wrong = np.zeros(queries.shape), np.zeros(queries.shape)
    truth.ravel()[0] = wrong.ravel()[-1] = 1.0
    answers = queries.ask(truth)
    p = repair(queries, wrong, answers, noise=0.01, slack=0.02)
    assert np.abs(queries.ask(p) - answers).max() <= 0.03


def test_repair_gives_up_when_nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noisy answers that no distribution is near by 0.39: a step gains 2·0.39², and it stops as soon as is proved."""
    queries, asked = Conjunctions((2,), 1), []
    monkeypatch.setattr(queries, "ask", lambda p: asked.append(p) or Conjunctions.ask(queries, p))
    p = repair(queries, np.array([0.5, 0.5]), np.array([0.9, 0.9]), noise=0.01, slack=0.001)
    assert p.sum() == pytest.approx(1)
    assert 1 < len(asked) <= most_gain(2) / (2 * 0.39**2) + 1


@pytest.mark.parametrize("asked", [0.9, 0.1])
def test_a_step_of_repair_is_that_of_the_theorem(asked: float) -> None:
    """Cells of an answer that is off by v beyond the noise change by e^{±4v}, and the gain is 2v²."""
    queries, p = Conjunctions((2,), 1), np.array([0.5, 0.5])
    gained = rows_module._round(queries, p, np.array([asked, 0.5]), np.array([0]), 0.01, 0.001)
    assert gained == pytest.approx(2 * 0.39**2)
    assert p.tolist() == pytest.approx([0.5 * math.exp(math.copysign(4 * 0.39, asked - 0.5)), 0.5])


def test_a_step_sees_what_the_steps_before_it_did() -> None:
    queries, p, answers = Conjunctions((2,), 1), np.array([0.5, 0.5]), np.array([0.9, 0.5])
    gained = rows_module._round(queries, p, answers, np.array([0, 1]), 0.01, 0.001)
    raised = 0.5 * math.exp(4 * 0.39)
    missing = 0.5 - 0.5 / (raised + 0.5) - 0.01
    assert gained == pytest.approx(2 * 0.39**2 + 2 * missing**2)
    assert p.tolist() == pytest.approx([raised, 0.5 * math.exp(4 * missing)])


def test_answers_within_the_slack_are_left_alone() -> None:
    queries, p = Conjunctions((2,), 1), np.array([0.5, 0.5])
    assert rows_module._round(queries, p, np.array([0.75, 0.5]), np.array([0]), 0.125, 0.125) == 0
    assert p.tolist() == [0.5, 0.5]


def test_a_fit_may_gain_as_much_as_the_theorem_says() -> None:
    assert most_gain(2) == pytest.approx(math.log(2 / 1e-4), rel=1e-5)
    assert most_gain(2) > math.log(2 / 1e-4)


@for_each("rows", [1, 10, 333])
def test_rows_are_like_the_distribution(rows: int) -> None:
    queries = Conjunctions((3, 2, 4), 2)
    p = np.random.default_rng(1).dirichlet(np.full(24, 0.5)).reshape(3, 2, 4)
    within = math.sqrt(math.log(4 * queries.size) / (2 * rows))
    cells, answered = rows_like(queries, p, rows, SeededSource(1), within=within)
    assert len(cells) == rows
    assert np.array_equal(answered, queries.ask(shares(cells, queries.shape)))
    assert np.abs(answered - queries.ask(p)).max() <= within
    if rows > 100:
        assert cells.tolist() != sorted(cells.tolist())


def test_independent_rows_are_drawn_when_even_ones_are_too_far_off() -> None:
    """A bound below what even spacing reaches cannot be kept; it is tried and the draw ends."""
    queries = Conjunctions((2,), 1)
    cells, _ = rows_like(queries, np.array([0.5, 0.5]), 1, SeededSource(1), within=0.1)
    assert len(cells) == 1


RUNS = 100


@pytest.mark.parametrize("mechanism", ["fitted", "exponential"])
def test_the_planned_error_holds_in_as_many_runs_as_promised(mechanism: str) -> None:
    """About the sample and about everybody; a false alarm has a probability below 1e-6."""
    random = np.random.default_rng(7)
    table = random.choice(12, p=random.dirichlet(np.full(12, 0.5)), size=4000)
    plan = plan_synopsis(
        conjunctions((3, 2, 2), 2),
        samples=2000,
        population=4000,
        epsilon=2.0,
        failure=0.1,
        mechanism=mechanism,
        rows=2000 if mechanism == "fitted" else 4,
    )
    queries, source = plan.mechanism.queries, SeededSource(3)
    missed_sample = missed_everybody = 0
    for _ in range(RUNS):
        drawn = random_rows(table, np.ones(len(table), np.int64), 2000, source)
        made = plan.mechanism.publish(count_rows(drawn, queries.shape), 2000, source)
        rows = queries.ask(shares(made.cells, queries.shape))
        missed_sample += np.abs(rows - queries.ask(shares(drawn, queries.shape))).max() > plan.about_sample.accuracy
        everybody = queries.ask(shares(table, queries.shape))
        missed_everybody += np.abs(rows - everybody).max() > plan.about_everybody.accuracy
    assert plan.about_everybody.accuracy < 1
    assert binom.sf(missed_sample - 1, RUNS, plan.about_sample.failure) > 1e-6
    assert binom.sf(missed_everybody - 1, RUNS, plan.about_everybody.failure) > 1e-6


def test_the_noise_is_not_less_than_planned() -> None:
    """The mean of |noise| over many counts is that of discrete Laplace noise within six standard errors."""
    queries = Conjunctions((30, 30), 2)
    made = FittedSynopsis(queries, 0.05, 10, 1.0, 1.0, 1.0)
    sample = np.zeros(queries.shape, np.int64)
    noise = np.abs(np.concatenate([made.noisy(sample, SeededSource(seed)) for seed in range(20)]))
    a = math.exp(-0.05)
    mean = 2 * a / (1 - a * a)
    spread = math.sqrt((2 * a / (1 - a) ** 2 - mean**2) / len(noise))
    assert abs(noise.mean() - mean) < 6 * spread


def test_the_plan_keeps_its_promise_and_takes_the_better_way() -> None:
    plan = plan_synopsis(conjunctions((5, 4, 3), 2), samples=3000, population=9000, epsilon=1.0, failure=0.05)
    zero_knowledge, differential, _ = (derived.conclusion for derived in plan.derivations())
    assert 0.999999 < zero_knowledge.epsilon <= 1.0
    assert zero_knowledge.epsilon == differential.epsilon
    assert zero_knowledge.delta == 0
    assert plan.about_sample.accuracy < plan.about_everybody.accuracy
    for mechanism in ("fitted", "exponential"):
        other = plan_synopsis(
            conjunctions((2, 2), 2), samples=300, population=900, epsilon=1.0, failure=0.05, mechanism=mechanism
        )
        best = plan_synopsis(conjunctions((2, 2), 2), samples=300, population=900, epsilon=1.0, failure=0.05)
        assert other.name == mechanism
        assert best.about_sample.accuracy <= 1.1 * other.about_sample.accuracy


@for_each(
    ("changed", "error", "word"),
    [
        ({"samples": 901}, InvalidInput, "between 1 and the 900 people"),
        ({"samples": 0}, InvalidInput, "between 1 and the 900 people"),
        ({"epsilon": 0.0}, InvalidInput, "above 0 and at most 100"),
        ({"epsilon": 101.0}, InvalidInput, "above 0 and at most 100"),
        ({"epsilon": 1e-4}, Infeasible, "Raise epsilon or sample"),
    ],
)
def test_plans_that_cannot_be_are_refused(changed, error, word) -> None:
    asked = {"samples": 300, "population": 900, "epsilon": 1.0, "failure": 0.05, **changed}
    with pytest.raises(error, match=word) as caught:
        plan_synopsis(conjunctions((4, 4, 4), 2), **asked)
    assert "\n" not in str(caught.value)


def test_the_exponential_mechanism_refuses_a_large_universe() -> None:
    with pytest.raises(InvalidInput, match="fitted"):
        plan_synopsis(
            conjunctions((400, 400), 1), samples=9, population=9, epsilon=1.0, failure=0.1, mechanism="exponential"
        )


def test_a_concealed_row_is_drawn_like_any_other_and_counts_nowhere() -> None:
    queries, table = Conjunctions((2, 2), 1), np.array([0, -1, 2])
    assert queries.ask(count_rows(table, queries.shape)).tolist() == [1, 1, 2, 0]
    drawn = random_rows(table, np.array([1, 1, 1]), 3, SeededSource(1))
    assert drawn.tolist() == [0, -1, 2]
    assert (
        len(ExponentialSynopsis(queries, 1.0, 2).publish(count_rows(drawn, queries.shape), 3, SeededSource(1)).cells)
        == 2
    )
    with pytest.raises(InvalidInput, match="between 0 and 3"):
        random_rows(table, np.array([1, 1, 1]), 4, SeededSource(1))


@for_each("rows", [1, 2, 3])
def test_the_sensitivity_of_the_choice_is_what_one_person_moves_a_score_by(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every replacement and concealment of one of three people, by brute force; nothing less is handed on."""
    queries, people = Conjunctions((2, 2), 2), 3
    made, seen = ExponentialSynopsis(queries, 1.0, rows), []
    tables = {
        cells: np.array(made.scores(count_rows(np.array(cells), queries.shape), people))
        for cells in combinations_with_replacement((*range(4), -1), people)
    }
    moved = max(
        int(np.abs(tables[one] - tables[other]).max())
        for one, other in combinations(tables, 2)
        if sum((Counter(one) - Counter(other)).values()) == 1
    )
    monkeypatch.setattr(synopses, "choose_several", lambda scores, times, **given: seen.append(given) or [0] * times)
    made.publish(count_rows(np.array([0, 1, 2]), queries.shape), people, SeededSource(1))
    assert seen[0]["sensitivity"] == moved == rows
    assert (seen[0]["epsilon"], seen[0]["monotone"]) == (1.0, False)


def test_a_table_is_added_up_only_from_few_counts() -> None:
    """A column of two values is the sum of five cells for each, a column of five the sum of two."""
    assert Conjunctions((2, 5), 2, add_up=2).measured == [(0,), (0, 1)]
    assert Conjunctions((2, 5), 2, add_up=5).measured == [(0, 1)]
    assert Conjunctions((2, 5), 2, add_up=1).measured == [(0,), (1,), (0, 1)]


def test_a_guess_is_lowered_by_as_little_as_it_takes() -> None:
    assert synopsis_plans._largest(1.0, lambda value: value <= 1) == 1
    assert 1 - 2**-48 <= synopsis_plans._largest(1.0, lambda value: value <= 1 - 2**-49) <= 1 - 2**-49
    assert 0.75 <= synopsis_plans._largest(1.0, lambda value: value <= 0.8) <= 0.8
    with pytest.raises(Infeasible):
        synopsis_plans._largest(1.0, lambda value: False)


def test_samples_too_small_for_a_dimension_still_answer_finitely_many() -> None:
    queries = Conjunctions((9, 9, 9), 3)
    assert queries.dimension > 2 * 4
    way = synopsis_plans._Way(queries, samples=4, population=1000, epsilon=1.0, failure=0.05, rows=None).plan_fitted()
    assert way.usefulness.premises[0].rule.id == "queries.finite-class"


def test_the_code_keeps_to_a_hair_less_than_what_is_stated() -> None:
    """Its sums are doubles: what it allows itself is below the bounds of the rule, by more than sums of doubles err."""
    queries = Conjunctions((2, 5), 2)
    way = synopsis_plans._Way(
        queries, samples=5000, population=10_000, epsilon=1.0, failure=0.05, rows=700
    ).plan_fitted()
    made, stated = way.mechanism, way.about_sample.accuracy
    drawing = math.sqrt(math.log(4 * queries.size) / (2 * 700))
    assert drawing * (1 - 1e-3) < made.rounding < drawing * (1 - 1e-10)
    assert 2 * made.noise + made.slack + made.rounding < stated * (1 - 1e-10)


def test_listed_counts_are_fitted_each_by_itself() -> None:
    queries = list_conjunctions((2, 3), [{0: 1}, {1: 2}, {0: 0, 1: 1}])
    table = np.arange(6).reshape(2, 3)
    pooled = queries.pool(np.array([7.0, 8.0, 9.0]))
    assert [part.counts.tolist() for part in pooled] == [[7.0], [8.0], [9.0]]
    assert [part.block.counts(table).tolist() for part in pooled] == [[12], [7], [1]]
