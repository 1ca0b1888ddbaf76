"""A certificate speaks of the very mechanism that ran: for every kind its leaves have that mechanism's parameters."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from crowdblend.errors import NotProved
from crowdblend.methods.mechanisms import NoisyHistogram, NoisyPoints, OutlierHistogram, SuppressedHistogram
from crowdblend.methods.mechanisms.everywhere import GaussianEverywhere, NoiseEverywhere, NoisyTotal, ThresholdHistogram
from crowdblend.methods.mechanisms.histograms import SuppressedRecords
from crowdblend.methods.mechanisms.networks import NoisyStatistic
from crowdblend.methods.mechanisms.statistics import NoisyStatistics
from crowdblend.methods.mechanisms.synopsis.synopses import ExponentialSynopsis, FittedSynopsis
from crowdblend.methods.planning.plan import plan
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.trusted.calculus import Certificate, Derivation
from tests.cases import for_each
from tests.golden.releases import KEY, POLICIES

MECHANISMS: tuple[Any, ...] = (
    SuppressedHistogram,
    NoisyHistogram,
    NoisyPoints,
    OutlierHistogram,
    FittedSynopsis,
    ExponentialSynopsis,
    NoisyStatistics,
    NoisyStatistic,
    NoiseEverywhere,
    NoisyTotal,
    ThresholdHistogram,
    GaussianEverywhere,
)
# Parameters of leaves that say how a mechanism is looked at, not what it does, such as the adversary's samples.
FREE = {"rate", "factor", "population", "samples", "explored", "degree_bound", "average_bound", "failure"}


def leaves(document: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every rule without premises anywhere in a certificate, with its parameters."""
    if isinstance(document, dict):
        if document.get("premises") == [] and "rule" in document:
            yield document["rule"], document["parameters"]
        for value in document.values():
            yield from leaves(value)
    elif isinstance(document, list):
        for value in document:
            yield from leaves(value)


def parameters_of(mechanism: Any) -> list[dict[str, Any]]:
    """The parameters of a mechanism under the names that rules have for them, one dictionary for each leaf."""
    if isinstance(mechanism, NoisyStatistics):
        return [
            {"grid_steps": shape.steps, "bins": shape.bins, "noise_epsilon": noise}
            for shape, noise in zip(mechanism.shapes, mechanism.noise_epsilons, strict=True)
        ]
    if isinstance(mechanism, NoisyStatistic):
        return [
            {"scale": mechanism.noise.scale, "resolution": mechanism.noise.resolution, "width": mechanism.noise.width}
        ]
    if isinstance(mechanism, FittedSynopsis):
        own = {"noise_epsilon": mechanism.noise_epsilon, "sensitivity": float(mechanism.queries.sensitivity)}
        return [{**own, "queries": mechanism.queries.size, "addends": mechanism.queries.parts, "rows": mechanism.rows}]
    if isinstance(mechanism, ExponentialSynopsis):
        return [{"epsilon": mechanism.epsilon, "queries": mechanism.queries.size, "rows": mechanism.rows}]
    return [vars(mechanism) if isinstance(mechanism, NoisyPoints) else msgspec.structs.asdict(mechanism)]


@pytest.mark.parametrize("name", [name for name in POLICIES if name not in ("table-text", "table-one", "table-open")])
def test_the_certificate_has_the_parameters_of_the_mechanism_that_ran(
    name: str, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Any] = []
    for kind in MECHANISMS:

        def publish(self: Any, *given: Any, _publish: Any = kind.publish) -> Any:
            ran.append(self)
            return _publish(self, *given)

        monkeypatch.setattr(kind, "publish", publish)
    release(parse_policy(POLICIES[name], sources), tmp_path / "out", key=KEY)
    certified = list(leaves(json.loads((tmp_path / "out" / "certificate.json").read_text())))
    own = [found for mechanism in ran for found in parameters_of(mechanism)]
    assert own
    compared = 0
    for rule, parameters in certified:
        # Under sampling, ε is where δ is stated.
        free = FREE | {"epsilon"} if "rate" in parameters else FREE
        stated = {key: value for key, value in parameters.items() if key not in free and any(key in one for one in own)}
        compared += len(stated)
        fits = [one for one in own if all(one.get(key, value) == value for key, value in stated.items())]
        assert fits, f"no mechanism that ran has the parameters of {rule}: {stated}"
    assert compared


def test_a_mechanism_that_guarantees_less_than_its_plan_is_refused() -> None:
    planned = plan(rate=0.5, epsilon=1.0, delta=1e-6)
    assert planned.k == 35
    made = planned.derivations(SuppressedHistogram(35))
    assert Certificate(made).guarantees == planned.certificate().guarantees
    with pytest.raises(NotProved):
        planned.derivations(SuppressedHistogram(20))


@for_each(
    ("mechanism", "rule"),
    [
        (SuppressedHistogram(7), "histogram.suppressed"),
        (SuppressedRecords(7), "generalization.suppressed"),
        (NoisyHistogram(7, 0.5), "histogram.noisy"),
    ],
)
def test_a_claim_is_about_crowds_of_k(mechanism: Any, rule: str) -> None:
    claim: Derivation = mechanism.claim()
    assert claim.rule.id == rule
    assert claim.conclusion.k == mechanism.k
    assert claim.conclusion.epsilon == getattr(mechanism, "noise_epsilon", 0)
