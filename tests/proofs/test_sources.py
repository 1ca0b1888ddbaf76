"""The machine-checked proofs are whole: every file is built, nothing is left open, no theorem has axioms unasked."""

from __future__ import annotations

import re
from pathlib import Path

PROOFS = Path(__file__).parents[2] / "proofs"
SOURCES = {file.stem: file.read_text(encoding="utf-8") for file in sorted(PROOFS.glob("*.v"))}
# Words by which Coq takes something for granted, or leaves a proof open.
OPEN = r"\b(Admitted|admit|Abort|Axioms?|Parameters?|Conjecture|give_up|Unset Guard Checking|bypass_check)\b"


def code(name: str) -> str:
    """Return a source without its comments."""
    return re.sub(r"\(\*.*?\*\)", "", SOURCES[name], flags=re.DOTALL)


def theorems(name: str) -> set[str]:
    """Return the statements that a source calls a theorem or a corollary."""
    return set(re.findall(r"^(?:Theorem|Corollary) (\w+)", code(name), flags=re.MULTILINE))


def test_every_file_is_built() -> None:
    listed = re.findall(r"^(\w+)\.v$", (PROOFS / "_CoqProject").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(listed) == sorted(SOURCES)
    assert len(listed) > 5


def test_nothing_is_left_open() -> None:
    assert {name: found for name in SOURCES if (found := re.findall(OPEN, code(name)))} == {}
    assert re.findall(OPEN, "Axiom x : False. Proof. Admitted.") == ["Axiom", "Admitted"]


def test_variables_and_hypotheses_stand_in_sections_alone() -> None:
    # Outside of a section they would be axioms.
    for name in SOURCES:
        depth = 0
        for line in code(name).splitlines():
            depth += bool(re.match(r"Section \w+\.", line)) - bool(re.match(r"End \w+\.", line))
            assert depth > 0 or not re.match(r"\s*(Variables?|Hypothes[ie]s|Context)\b", line), (name, line)


def test_coq_is_asked_what_every_theorem_rests_on() -> None:
    asked = re.findall(r"^Print Assumptions (\w+)\.$", SOURCES["assumptions"], flags=re.MULTILINE)
    assert sorted(asked) == sorted(set().union(*map(theorems, SOURCES)))
