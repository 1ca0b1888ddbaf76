"""Every defence in the threat model names a test, and that test exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADS = ("| attack", "| mistake")


def test_every_defence_names_a_test_that_exists() -> None:
    text = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
    # The table of facts that are vouched for has two columns, and test_vouched_facts.py compares it.
    defences = [line for line in text.splitlines() if line.startswith("| ") and line.count(" | ") > 1]
    rows = [line for line in defences if not line.startswith(HEADS)]
    named = [re.search(r"\| `(test_\w+)` \|$", row) for row in rows]
    assert all(named), [row for row, name in zip(rows, named, strict=True) if not name]
    files = (ROOT / "tests").rglob("test_*.py")
    pattern = re.compile(r"^\s*def (test_\w+)", re.MULTILINE)
    known = {name for file in files for name in pattern.findall(file.read_text(encoding="utf-8"))}
    assert len(rows) > 30
    assert {name[1] for name in named if name} <= known
