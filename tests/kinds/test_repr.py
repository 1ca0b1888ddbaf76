"""What Python shows of a plan, a certificate and a release: one screen, and nothing of the data."""

from pathlib import Path

import pytest

import crowdblend as cb
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from tests.golden.releases import POLICIES, PROGRAMMES


@pytest.mark.parametrize("name", ["table", "points", "statistics", "graph", "programme-people", "programme-strata"])
def test_a_plan_and_its_certificate_fit_one_screen(name: str, sources: Path) -> None:
    planned = parse_policy((POLICIES | PROGRAMMES)[name], sources).plan()
    shown, certificate = repr(planned), repr(planned.certificate())
    for text in (shown, certificate):
        assert text.count("\n") < 40
        assert len(text) < 4_000
    assert "would publish" in shown
    assert "epsilon=" in certificate


def test_a_folder_is_shown_by_its_path(sources: Path, tmp_path: Path) -> None:
    policy = parse_policy(POLICIES["table"], sources)
    release(policy, tmp_path / "out", ledger=None)
    assert len(repr(cb.read(tmp_path / "out"))) < 300
