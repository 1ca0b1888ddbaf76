"""What is said of every rule beside its proof is so: the worlds are counted by the tests that enumerate them.

A world is a case of a test, or one of the random worlds that a case goes through; several ε of one world count once.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from crowdblend.methods.planning.networks.request import Bounds
from crowdblend.trusted.calculus import RULES
from crowdblend.trusted.calculus.evidence import ENUMERATED, MACHINE_CHECKED, Worlds, evidence, in_short, summary
from crowdblend.trusted.guarantees.profiles import (
    AmplifiedCurve,
    BiasedCurve,
    ClosenessCurve,
    CrowdCurve,
    LossCurve,
    SplitCurve,
)
from crowdblend.trusted.guarantees.programme import ProgrammeCurve
from tests.cases import spread
from tests.methods.selection import test_exponential as exponential
from tests.trusted.numerics import test_expected_people as expected_people
from tests.truth import test_biased_parts as biased_parts
from tests.truth import test_composition as composition
from tests.truth import test_crowd_blending as crowd_blending
from tests.truth import test_degrees as degrees
from tests.truth import test_exact_delta as exact_delta
from tests.truth import test_gaussian as gaussian
from tests.truth import test_graphs as graphs
from tests.truth import test_network_edits as edits
from tests.truth import test_network_promises as networks
from tests.truth import test_noise_below_k as noise_below_k
from tests.truth import test_points as points
from tests.truth import test_profiles as profiles
from tests.truth import test_programme as programme
from tests.truth import test_quantiles as quantiles
from tests.truth import test_recoding as recoding
from tests.truth import test_registers as registers
from tests.truth import test_row_coins as row_coins
from tests.truth import test_sampling as sampling
from tests.truth import test_strata as strata
from tests.truth import test_strata_statistics as strata_statistics
from tests.truth import test_strata_together as strata_together
from tests.truth import test_surveys as surveys
from tests.truth import test_synopses as synopses
from tests.truth import test_threshold as threshold
from tests.truth import test_totals as totals
from tests.truth import test_zero_knowledge as zero_knowledge
from tests.truth.programmes import Moved

TESTS = Path(__file__).parents[1]
Count = Any
"""A number of worlds, or one of every day and one of the long suite."""


def cases(test: Callable[..., None]) -> Count:
    """Return the number of cases of a test every day and in the long suite, by `for_each` and by `parametrize`."""
    marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    assert "slow" not in {mark.name for mark in getattr(test, "pytestmark", [])}
    assert not any(hasattr(value, "marks") for mark in marks for value in mark.args[1])
    always = math.prod(len(list(mark.args[1])) for mark in marks)
    return always * np.array([getattr(test, "daily_cases", 1), getattr(test, "cases", 1)])


def composed(curve: type[LossCurve]) -> Count:
    """Return in how many of the products of small worlds a curve is."""
    seeds = list(profiles.SEEDS)
    has = [any(isinstance(one, curve) for one in profiles.random_curves(random.Random(seed))) for seed in seeds]
    return np.array([sum(spread(has, int(PRODUCTS[0]))), sum(has)])


def simulated(rule: str) -> int:
    """Return how many of the simulated networks are planned by a rule."""
    bounds = Bounds(networks.N, networks.D, float(networks.D))
    return sum(made(bounds).derivation.rule.id == rule for made in networks.PLANS.values())


def moments(rule: str) -> Count:
    tested = cases(networks.test_noise_hides_the_error_as_well_as_claimed) // len(networks.ESTIMATORS)
    return tested * [name for _, name, _ in networks.ESTIMATORS].count(rule)


def among(first: int, last: int, chosen: Callable[[int], bool]) -> Callable[[], Count]:
    """Return what counts how many of the first worlds, and of all, are of some kind."""
    return lambda: (sum(map(chosen, range(first))), sum(map(chosen, range(last))))


def totals_of(kind: Callable[[int, int], bool]) -> Count:
    """Return the worlds with totals of some bins and steps, for every number of people drawn."""
    fits = {name: any(map(kind, one.bins, one.steps)) for name, one in totals.WORLDS.items()}
    listed = totals._worlds_and_samples()
    return np.array([sum(fits[name] for name, _ in some) for some in (spread(listed, totals.DAILY), listed)])


PROPERTIES = len(graphs.PROPERTIES)
SURVEYS = (surveys.WORLDS, surveys.MANY)
BIASED_PARTS = (biased_parts.WORLDS + biased_parts.CROWDS, biased_parts.MANY + biased_parts.MANY_CROWDS)
PROGRAMMES = (programme.WORLDS, programme.MANY)
ON_ONE_SAMPLE = (programme.ON_ONE_SAMPLE, programme.MANY)
OF_STRATA = (len(strata_statistics.WORLDS), len(strata_statistics.WORLDS) + len(strata_statistics.MANY))
SAMPLED = len(sampling.SEEDS)
PRODUCTS = cases(profiles.test_no_product_of_small_worlds_exceeds_the_composed_profile)
GAUSSIAN_PAIRS = cases(gaussian.test_two_tables_on_everybody_and_on_a_sample)
THRESHOLDS = cases(threshold.test_no_table_leaks_more_and_some_leak_that_much)
ANY_CROWDS = cases(sampling.test_any_crowd_blending_mechanism_after_sampling)
ROBUST = cases(sampling.test_robust_sampling_with_a_probability_for_everybody)
SANITIZED = len(zero_knowledge.SEEDS)
GROUPS = cases(zero_knowledge.test_groups_and_differential_privacy_follow)
SAMPLERS = cases(graphs.test_samplers_miss_no_more_often_than_claimed) // PROPERTIES
CONCEALED = cases(graphs.test_concealing_a_vertex_moves_no_more_than_is_charged) // PROPERTIES
STRAYS = cases(networks.test_samples_of_people_s_data_stray_as_little_as_claimed)
DEGREES = cases(degrees.test_concealing_or_replacing_links_moves_the_shares_by_what_is_charged)
SHARES = cases(networks.test_the_simulator_of_shares_is_as_close_as_promised)
STEPS = cases(recoding.test_choosing_in_steps_on_a_part_of_the_sample)
TWO_STRATA = cases(strata.test_releases_of_strata_compose_by_their_profiles)
BLENDING = cases(crowd_blending.test_differential_mechanisms_blend_and_stand_beside_blending_ones)

COUNTED: dict[str, Count] = {
    "sampling.amplification": SAMPLED,
    "dps.lower-rate": SAMPLED,
    "dps.postprocessing": SAMPLED,
    "dps.random-choice": cases(sampling.test_a_coin_between_two_mechanisms),
    "dps.differential": SAMPLED,
    "dps.zero-knowledge": cases(sampling.test_suppression_in_many_classes_is_no_worse_than_in_one),
    "differential.replace": cases(sampling.test_replacing_and_groups),
    "differential.group": cases(sampling.test_replacing_and_groups),
    "suppression.published": cases(exact_delta.test_the_published_bound_is_above_the_truth),
    "suppression.exact": cases(exact_delta.test_the_exact_delta_is_the_definition)
    + cases(sampling.test_suppression_in_many_classes_is_no_worse_than_in_one),
    "blending.sharp": ANY_CROWDS,
    "histogram.noisy-sampled": cases(noise_below_k.test_noise_below_k_is_the_definition),
    "points.sampled": cases(points.test_no_tiny_world_leaks_more)
    + cases(points.test_no_larger_block_of_unlike_points_leaks_more),
    "blending.explicit": ANY_CROWDS,
    "blending.closed-form": ANY_CROWDS,
    "robust.differential": ROBUST,
    "robust.zero-knowledge": ROBUST,
    "composition.differential": cases(composition.test_fresh_samples_add_up),
    "composition.adaptive": STEPS + np.array(OF_STRATA),
    "composition.random-samples": cases(composition.test_random_samples_add_up_with_their_numbers),
    "composition.iid-sampling": cases(composition.test_fresh_samples_add_up),
    "composition.blending-differential": BLENDING,
    "composition.blending-differential-both": BLENDING,
    "graph.sampler.connected": SAMPLERS,
    "graph.sampler.cycle-free": SAMPLERS,
    "graph.sampler.eulerian": SAMPLERS,
    "graph.sampler.average-degree": cases(graphs.test_the_sampled_average_degree_misses_no_more_often_than_claimed),
    "graph.estimator.connected": moments("connected"),
    "graph.estimator.eulerian": moments("eulerian"),
    "graph.estimator.cycle-free": moments("cycle-free"),
    "graph.estimator.average-degree": moments("average-degree"),
    "graph.estimator.light-ends": moments("light-ends"),
    "graph.estimator.average": STRAYS,
    "graph.estimator.histogram": STRAYS,
    "graph.estimator.degrees": cases(degrees.test_random_people_stray_as_little_as_claimed),
    "zero-knowledge.group": GROUPS,
    "zero-knowledge.group-distance": GROUPS,
    "zero-knowledge.group-samples": GROUPS,
    "zero-knowledge.differential": GROUPS,
    "differential.zero-knowledge": cases(
        zero_knowledge.test_differential_privacy_is_zero_knowledge_about_everybody_else
    ),
    "laplace.sample-complexity": cases(zero_knowledge.test_laplace_noise_by_sample_complexity),
    "laplace.random-samples": cases(zero_knowledge.test_laplace_noise_from_random_samples_bounds_the_sensitivity),
    "laplace.everybody": cases(zero_knowledge.test_laplace_noise_by_sample_complexity),
    "zero-knowledge.sampler": cases(zero_knowledge.test_what_is_released_well_can_be_estimated),
    "sample-and-sanitize.plain": SANITIZED,
    "sample-and-sanitize.doubled": SANITIZED,
    "sample-and-sanitize.linear": SANITIZED,
    "sample-and-sanitize.sharp": SANITIZED + cases(totals.test_totals_of_a_sample_can_be_simulated_from_random_rows),
    "sample-and-sanitize.differential": SANITIZED + cases(totals.test_totals_hide_a_replaced_person),
    "graph.connected": CONCEALED,
    "graph.cycle-free": CONCEALED,
    "graph.eulerian": CONCEALED,
    "graph.average-degree": cases(graphs.test_the_average_degree),
    "graph.published.distance": simulated("graph.published.distance"),
    "graph.sharp.distance": simulated("graph.sharp.distance"),
    "graph.sharp.degree": simulated("graph.sharp.degree"),
    "graph.sharp.histogram": SHARES,
    "graph.sharp.degrees": DEGREES,
    "graph.differential.distance": cases(edits.test_replacing_anybody_s_links_moves_it_by_at_most_the_bound),
    "graph.differential.histogram": SHARES,
    "graph.differential.degrees": DEGREES,
    "histogram.suppressed": cases(crowd_blending.test_suppression_and_generalization),
    "histogram.noisy": cases(crowd_blending.test_noise_below_k),
    "histogram.laplace": cases(crowd_blending.test_noise_on_every_cell_is_differential),
    "histogram.gaussian": len(gaussian.SIGMAS),
    "histogram.threshold": THRESHOLDS,
    "generalization.suppressed": cases(crowd_blending.test_suppression_and_generalization),
    "points.noisy": cases(crowd_blending.test_points_moved_within_their_block),
    "blending.postprocessing": cases(crowd_blending.test_random_blending_mechanisms_and_their_postprocessing),
    "blending.differential": BLENDING,
    "outlier.histogram": cases(noise_below_k.test_the_outlier_histogram_by_direct_summation),
    "outlier.differential": cases(noise_below_k.test_outlier_privacy_is_differential_at_its_largest_loss),
    "programme.parts": PROGRAMMES,
    "profile.unequal-programme": BIASED_PARTS,
    "recoding.population": cases(recoding.test_choosing_on_the_population),
    "recoding.split": cases(recoding.test_choosing_on_a_part_of_the_sample) + STEPS,
    "profile.crowds": composed(CrowdCurve),
    "profile.noise-below-k": cases(profiles.test_noise_below_k_composes_truly),
    "profile.points": among(*SURVEYS, lambda seed: isinstance(surveys.of_anybody(seed)[0].mechanisms[0], Moved)),
    "profile.programme": composed(ProgrammeCurve) + cases(programme.test_what_the_rules_state_is_true_and_hardly_more),
    "profile.steps": ON_ONE_SAMPLE,
    "profile.one-sample": ON_ONE_SAMPLE,
    "profile.one-unequal-sample": ON_ONE_SAMPLE,
    "profile.biased": composed(BiasedCurve),
    "profile.amplified": composed(AmplifiedCurve),
    "profile.outliers": cases(profiles.test_outlier_tables_compose_truly),
    "profile.gaussian": len(gaussian.ALONE) + GAUSSIAN_PAIRS * len(gaussian.RATES),
    "profile.threshold": THRESHOLDS + len(threshold.SAMPLED) + len(threshold.COMPOSED),
    "profile.differential": composed(ClosenessCurve),
    "profile.recoding-split": composed(SplitCurve)
    + cases(profiles.test_a_choosing_part_is_covered_when_the_person_is_missing),
    "profile.replaced": SURVEYS,
    "composition.profiles": PRODUCTS + TWO_STRATA,
    "composition.repeated": cases(profiles.test_a_composed_epsilon_is_true_and_not_far_from_it),
    "profile.delta": PRODUCTS + TWO_STRATA,
    "profile.epsilon": cases(profiles.test_a_composed_epsilon_is_true_and_not_far_from_it),
    "profile.replace": cases(profiles.test_replacing_and_groups_are_covered),
    "profile.group": cases(profiles.test_replacing_and_groups_are_covered),
    "quantile.everybody": len(quantiles.SHARES) * sum(groups == 1 for groups, _ in quantiles.SIZES),
    "quantile.groups": len(quantiles.SHARES) * sum(groups > 1 for groups, _ in quantiles.SIZES),
    "quantile.add-remove": OF_STRATA,
    "sampler.average": cases(zero_knowledge.test_the_average_of_samples_keeps_hoeffdings_promise),
    "queries.finite-class": cases(synopses.test_random_people_answer_a_finite_class),
    "register.rows": cases(registers.test_rows_with_noise),
    "register.total": cases(registers.test_a_total_with_noise),
    "rows.per-person": cases(registers.test_rows_of_sampled_people_are_hidden_together),
    "rows.own-coins": (row_coins.WORLDS, row_coins.MANY),
    "synopsis.exponential": cases(synopses.test_the_chosen_synopsis_is_private),
    "synopsis.counts": (len(synopses.SMALL) - len(synopses.SLOW), len(synopses.SMALL)),
    "score.published": cases(expected_people.test_no_class_gains_more_and_some_class_gains_that_much),
    "selection.exponential": cases(exponential.test_differential_privacy_over_all_tiny_tables),
    "strata.between-rates": among(
        strata.AT_ONCE,
        strata.WORLDS,
        lambda seed: any(low < high for low, high in strata.random_case(seed, biased=True).rates),
    ),
    "strata.worst": cases(strata.test_nothing_in_small_worlds_exceeds_the_certificate) * strata.AT_ONCE,
    "strata.together": cases(strata_together.test_noise_beside_crowds_in_parts_of_strata),
    "strata.copies": OF_STRATA,
    "strata.more-copies": OF_STRATA,
    "strata.joint": OF_STRATA,
    "profile.strata": TWO_STRATA,
    "survey.profile": SURVEYS,
    "survey.strata-profile": SURVEYS,
    "survey.groups-profile": SURVEYS,
    "survey.zero-knowledge": among(*SURVEYS, lambda seed: surveys.of_people(seed)[0].instead is surveys.CONCEALED),
    "synopsis.exponential-useful": cases(synopses.test_the_chosen_synopsis_is_as_useful_as_stated),
    "synopsis.counts-useful": cases(synopses.test_noisy_answers_keep_to_their_bound),
    "totals.sum": totals_of(lambda bins, _: bins == 1),
    "totals.histogram": totals_of(lambda bins, steps: bins > 1 and steps == 1),
    "totals.groups": totals_of(lambda bins, steps: bins > 1 and steps > 1),
    "totals.together": totals.N * sum(len(one.bins) > 1 for one in totals.WORLDS.values()),
    "totals.differential": cases(totals.test_totals_hide_a_replaced_person),
    "totals.add-remove": OF_STRATA,
    "totals.zero-knowledge": cases(totals.test_everybodys_totals_can_be_simulated_from_random_rows),
}


def test_every_rule_says_what_is_enumerated() -> None:
    assert list(ENUMERATED) == [rule for rule in RULES if rule in ENUMERATED]
    assert {rule for rule, worlds in ENUMERATED.items() if isinstance(worlds, Worlds)} == set(COUNTED)
    assert set(MACHINE_CHECKED) <= set(RULES)


def test_worlds_are_those_of_the_tests() -> None:
    stated = {rule: worlds[:2] for rule, worlds in ENUMERATED.items() if isinstance(worlds, Worlds)}
    counted = {rule: count() if callable(count) else count for rule, count in COUNTED.items()}
    assert stated == {rule: tuple(map(int, np.broadcast_to(count, 2))) for rule, count in counted.items()}
    assert all(0 < quick <= every for quick, every in stated.values())


def test_the_named_files_are_there() -> None:
    files = {file for worlds in ENUMERATED.values() for file in re.findall(r"tests/(\S+\.py)", str(worlds))}
    assert {file for file in files if not (TESTS / file).is_file()} == set()
    assert len(files) > 20


def test_evidence_is_told_in_sentences() -> None:
    assert evidence(RULES["suppression.exact"])[0] == "proof in prose: crowdblend, docs/proofs.md#the-exact-delta"
    assert evidence(RULES["suppression.exact"])[1].startswith("checked by Coq: sampling.exact_up")
    assert evidence(RULES["choice.sampling"]) == [
        "proof in prose: each derivation is a proof",
        "not checked by Coq",
        "the smallest of several true numbers: nothing to enumerate",
    ]
    parts_of_samples = evidence(RULES["programme.parts"])[-1]
    assert parts_of_samples.startswith("enumerated: 40 worlds, 1,000 in the slow suite (tests/truth/test_programme.py")
    assert evidence(RULES["points.noisy"])[-1] == "enumerated: 1 world (tests/truth/test_crowd_blending.py)"
    assert in_short(RULES["suppression.exact"]) == "Coq, 64 worlds"
    assert in_short(RULES["queries.useful"]) == "not enumerated"
    assert summary().startswith(f"Of {len(RULES)} rules Coq has checked {len(MACHINE_CHECKED)}, ")
