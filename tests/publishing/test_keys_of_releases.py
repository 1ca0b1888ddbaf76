"""What becomes of the key of a release: sealed where the policy says so, and nowhere to be found otherwise."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.ledger import Ledger
from crowdblend.policies.load import load_policy
from crowdblend.publishing.release import release
from tests.cases import for_each
from tests.publishing.killing import prepare

KEY = hashlib.sha256(b"a key that is nowhere else").digest()
PIECE = 8


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A steward's folder, where reports have no figures to save time."""
    monkeypatch.setattr(
        "crowdblend.reading.reports.write.write_report", lambda to, **_: (to / "report.html").write_text("no")
    )
    prepare(tmp_path / "place")
    return tmp_path / "place"


def published(place: Path, *, seal: bool) -> Ledger:
    """The ledger after a release whose policy seals the key, or says nothing of it."""
    path = place / "policy.toml"
    if seal:
        text = path.read_text()
        path.write_text(text.replace("[sampling]\n", '[sampling]\nkey = "seal"\n'))
    ledger = Ledger.open(place / "ledger.sqlite")
    release(load_policy(path), place / "out", ledger=ledger, policy_file=path, key=KEY)
    return ledger


def shown(place: Path) -> Iterator[bytes]:
    """Everything that was written, to the last byte of freed pages, as it is and in lower case."""
    for file in place.rglob("*"):
        if file.is_file():
            yield file.read_bytes()
            yield file.read_bytes().lower()


def pieces() -> list[bytes]:
    """Eight bytes of the key from any place, as they are, reversed, and in hexadecimal digits."""
    whole = [KEY[start : start + PIECE] for start in range(len(KEY) - PIECE + 1)]
    return [form for piece in whole for form in (piece, piece[::-1], piece.hex().encode())]


def test_a_key_that_the_policy_seals_is_in_the_ledger(place: Path) -> None:
    ledger = published(place, seal=True)
    assert ledger.entry(1).key == "sealed"
    assert ledger.key(1) == KEY
    assert any(piece in written for written in shown(place) for piece in pieces())


THINNED = [
    cb.Survey(60, of=300, thin=0.5, key="seal"),
    cb.Strata("sex", {"f": 0.2, "m": 0.3}, thin=0.5, key="seal"),
]


@for_each("sampling", THINNED)
def test_the_coins_that_thin_a_survey_are_thrown_here_and_have_a_key(sampling: Any, tmp_path: Path) -> None:
    people = pa.table({"id": range(60), "sex": ["f", "m"] * 30})
    terms = {"person": "id", "population": "town", "epsilon": 3.0, "delta": 1e-3, "columns": {"sex": ["f", "m"]}}
    made = cb.Policy(**terms, sampling=sampling, publish=cb.Table())
    ledger = Ledger.create(tmp_path / "ledger.sqlite")
    cb.release(people, made, out=tmp_path / "out", ledger=ledger, figures=False, key=KEY)
    assert ledger.entry(1).key == "sealed"
    assert ledger.key(1) == KEY


def test_a_key_that_is_destroyed_leaves_no_piece_behind(place: Path) -> None:
    ledger = published(place, seal=False)
    assert ledger.entry(1).key == "destroyed"
    with pytest.raises(InvalidInput):
        ledger.key(1)
    assert not any(piece in written for written in shown(place) for piece in pieces())


def test_two_releases_without_a_key_have_different_ones(place: Path) -> None:
    """Two runs, each with a fresh key: other samples, so other names of samples and other published bytes."""
    path = place / "policy.toml"
    ledger = Ledger.open(place / "ledger.sqlite")
    done = [release(load_policy(path), place / name, ledger=ledger, policy_file=path) for name in ("one", "two")]
    assert len({(made.folder / "data.csv").read_bytes() for made in done}) == 2
    assert len({ledger.entry(number).spending.sample for number in (1, 2)}) == 2
