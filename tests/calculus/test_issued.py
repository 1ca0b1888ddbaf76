"""Whatever was issued verifies for ever, whichever version reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdblend.calculus import verify_file

ISSUED = sorted((Path(__file__).parents[1] / "data" / "certificates").glob("format-*/*.json"))


def test_some_were_issued() -> None:
    for form in ("format-1", "format-2"):
        assert len([path for path in ISSUED if path.parent.name == form]) >= 60


@pytest.mark.parametrize("path", ISSUED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_issued_certificates_verify(path: Path) -> None:
    assert verify_file(path).guarantees
