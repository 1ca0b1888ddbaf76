"""Steps of a derivation that rest on theorems checked by Coq, and the numbers Coq decides.

For sampled crowds in which people are alike (`suppression.exact`) the theorem `checker.passed` has a test in whole
numbers: the rate and δ are the doubles of the certificate, the factor is a fraction that is at most e^ε.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from crowdblend.errors import DoesNotVerify, Unavailable
from crowdblend.trusted.calculus import Certificate, Derivation
from crowdblend.trusted.calculus.evidence import MACHINE_CHECKED

DECIDED = "suppression.exact"
# δ is the true value at e^ε, rounded up to a double: a fraction this close to e^ε leaves it true.
FACTOR_BITS = 256
MOST_SECONDS = 600
_WHERE = "--proved"


@dataclass(frozen=True)
class Step:
    """A step of a derivation: its rule, and what its correctness rests on."""

    rule: str
    proof: str


def proved_steps(certificate: Certificate, proofs: Path) -> list[Step]:
    """Return every rule of the derivations once, with what it rests on; refuse a δ that Coq does not confirm.

    `proofs` is the folder in which `make proofs` has compiled the theorems.
    """
    if not (proofs / "checker.vo").is_file():
        message = f"There are no compiled theorems in {proofs}."
        remedy = "Run make proofs, and name the folder out/proofs."
        raise Unavailable(message, remedy=remedy, where=_WHERE, code="verify.proofs-missing")
    steps = {
        (step.rule.id, repr((step.parameters, step.conclusion, [one.conclusion for one in step.premises]))): step
        for derivation in certificate.derivations
        for step in derivation.steps()
    }
    return list(dict.fromkeys(Step(step.rule.id, _rests_on(step, proofs)) for step in steps.values()))


def _rests_on(step: Derivation, proofs: Path) -> str:
    if step.rule.id == DECIDED and step.conclusion.delta < step.conclusion.rate:
        decide(step, proofs)
        return f"Coq has checked the theorem, and that delta = {step.conclusion.delta:g} follows from it"
    if step.rule.id in MACHINE_CHECKED:
        return f"Coq has checked the theorem ({', '.join(MACHINE_CHECKED[step.rule.id].theorems.split())})"
    return f"proof in prose ({step.rule.theorem.source})"


def decide(step: Derivation, proofs: Path) -> None:
    """Have Coq decide that δ of an application of suppression.exact is true; refuse it where it is not."""
    coq = shutil.which("coqc")
    if coq is None:
        message, remedy = "Coq is not installed.", "Install Coq with Mathematical Components, as make proofs needs it."
        raise Unavailable(message, remedy=remedy, where=_WHERE, code="verify.coq-missing")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "claim.v"
        source.write_text(claim(step), encoding="utf-8", newline="\n")
        command = [coq, "-w", "none", "-Q", str(proofs), "crowdblend", str(source)]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            message, remedy = f"Coq was not done after {MOST_SECONDS} s.", "Verify without `--proved`."
            raise Unavailable(message, remedy=remedy, where=_WHERE, code="verify.proof-time") from None
    if ended.returncode or "Closed under the global context" not in ended.stdout:
        message = f"Coq does not confirm the delta of {DECIDED}."
        remedy = "Run make proofs again; if it is still refused, do not rely on the certificate."
        raise DoesNotVerify(message, remedy=remedy, where=_WHERE, code="verify.not-confirmed")


def claim(step: Derivation) -> str:
    """Return the claim of an application of suppression.exact as a Coq source, which is accepted if it is proved."""
    concluded = step.conclusion
    test = whole_number_test(step.premises[0].conclusion.k, concluded.rate, concluded.epsilon, concluded.delta)
    return "\n".join(
        (
            "From Coq Require Import ZArith.",
            "From crowdblend Require Import checker.",
            f"Lemma test : {test} = true. Proof. vm_compute. reflexivity. Qed.",
            "Definition claim R := @passed R _ _ _ _ _ _ _ _ _ test.",
            "Print Assumptions claim.\n",
        )
    )


def whole_number_test(k: int, given_rate: float, epsilon: float, delta: float) -> str:
    """Return the test of `checker.passed` that proves this δ, as a Coq term."""
    others, rate, factor = k - 1, Fraction(given_rate), factor_below(epsilon)
    odds = others * (1 - rate) / rate
    gain = 1 - factor * (1 - rate)
    up = _worst(others, odds / (1 + (factor - 1) / rate))
    down = _worst(others, odds * factor * rate / gain) if gain > 0 else others
    numbers = [end for value in (rate, factor, Fraction(delta)) for end in value.as_integer_ratio()]
    return f"passes {others} {up} {down} {' '.join(f'{number}%Z' for number in numbers)}"


def _worst(others: int, bound: Fraction) -> int:
    """Return the first n, at least `others`, with n − others + 1 ≥ reached: the peak of the theorem."""
    return others + max(0, math.ceil(bound) - 1)


def factor_below(epsilon: float) -> Fraction:
    """Return a fraction that is at most e^ε and very close to it: terms of its series, rounded down."""
    exponent, total, term, count = Fraction(epsilon), Fraction(1), Fraction(1), 0
    while term >= Fraction(1, 2 ** (FACTOR_BITS + 8)):
        count += 1
        term *= exponent / count
        total += term
    return Fraction(math.floor(total * 2**FACTOR_BITS), 2**FACTOR_BITS)
