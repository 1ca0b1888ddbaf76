"""`verify --proved`: the numbers that Coq is asked about are those of the certificate, and its answer decides."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb, ctx, fmpq

from crowdblend.errors import DoesNotVerify, Unavailable
from crowdblend.reading.verification.coq_steps import claim, factor_below, proved_steps, whole_number_test
from crowdblend.trusted.calculus import RULES, Certificate
from crowdblend.trusted.numerics.crowd_divergence import crowd_divergence
from tests.cases import for_each
from tests.commands import crowdblend
from tests.truth import fractions_arithmetic as exact

from .test_sources import code

K, RATE, EPSILON = 35, 0.5, 1.0


def certificate() -> Certificate:
    mechanism = RULES["histogram.suppressed"](k=K)
    sampled = RULES["suppression.exact"](mechanism, rate=RATE, epsilon=EPSILON)
    return Certificate((RULES["dps.differential"](sampled),))


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """A folder that looks like that of make proofs."""
    (tmp_path / "checker.vo").touch()
    return tmp_path


def coq_that(says: str, code: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program in the place of Coq, which keeps what it is asked and gives this answer."""
    program, asked = folder / "coqc", folder / "asked.v"
    program.write_text(f"#!/bin/sh\nfor last; do :; done\ncat \"$last\" > {asked}\necho '{says}'\nexit {code}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return asked


@for_each("epsilon", [0.0, 1e-9, 0.1, 1.0, 3.0, 20.0])
def test_the_factor_is_below_e_to_the_epsilon_and_close(epsilon: float) -> None:
    below = factor_below(epsilon)
    ctx.prec, before = 600, ctx.prec
    try:
        true, given = arb(epsilon).exp(), arb(fmpq(below.numerator, below.denominator))
        assert given <= true or epsilon == 0 == below - 1
        assert true - given < arb(2) ** -250
    finally:
        ctx.prec = before


@for_each("case", [(35, 0.5, 1.0), (20, 0.1, 0.5), (12, 0.2, 0.125), (3, 0.9, 0.0)])
def test_delta_is_true_at_that_factor_and_the_double_below_it_is_not(case: tuple[int, float, float]) -> None:
    k, rate, epsilon = case
    delta = RULES["suppression.exact"](RULES["histogram.suppressed"](k=k), rate=rate, epsilon=epsilon).conclusion.delta
    true = crowd_divergence(exact, k, Fraction(rate), Fraction(1), factor_below(epsilon))
    assert Fraction(math.nextafter(delta, 0)) < true <= Fraction(delta)


@for_each("case", [(35, 0.5, 1.0), (20, 0.1, 0.5), (12, 0.2, 0.125)])
def test_coq_has_decided_these_numbers(case: tuple[int, float, float]) -> None:
    k, rate, epsilon = case
    delta = RULES["suppression.exact"](RULES["histogram.suppressed"](k=k), rate=rate, epsilon=epsilon).conclusion.delta
    examples = " ".join(code("examples").split())
    assert f"{whole_number_test(k, rate, epsilon, delta)} = true." in examples
    assert f"{whole_number_test(k, rate, epsilon, math.nextafter(delta, 0))} = false." in examples


def test_every_step_says_what_it_rests_on(compiled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = coq_that("Closed under the global context", 0, compiled, monkeypatch)
    found = {step.rule: step.proof for step in proved_steps(certificate(), compiled)}
    assert list(found) == ["dps.differential", "suppression.exact", "histogram.suppressed"]
    assert "delta = 9.24694e-07 follows" in found["suppression.exact"]
    assert "suppression.suppression_blends" in found["histogram.suppressed"]
    assert found["dps.differential"] == "proof in prose (LQS Definition 3)"
    (step,) = certificate().derivations[0].premises
    assert asked.read_text() == claim(step)
    assert "Definition claim R := @passed R" in claim(step)


@pytest.mark.parametrize("answer", [("Closed under the global context", 1), ("Axioms: whatever", 0)])
def test_what_coq_does_not_confirm_is_refused(
    answer: tuple[str, int], compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    coq_that(*answer, compiled, monkeypatch)
    with pytest.raises(DoesNotVerify) as refused:
        proved_steps(certificate(), compiled)
    assert refused.value.code == "verify.not-confirmed"


def test_missing_theorems_are_told(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="make proofs"):
        proved_steps(certificate(), tmp_path)


def test_the_command_prints_the_steps(compiled: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    coq_that("Closed under the global context", 0, compiled, monkeypatch)
    file = tmp_path / "certificate.json"
    file.write_text(certificate().to_json(), encoding="utf-8")
    printed = crowdblend("verify", file, "--proved", compiled).stdout
    assert "  rests on   suppression.exact: Coq has checked the theorem, and that delta" in printed
    assert crowdblend("verify", file, "--proved", tmp_path / "nowhere").returncode == 2
