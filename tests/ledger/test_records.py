"""What a record may hold, and in which order records may follow each other."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.ledger import chain
from crowdblend.ledger.beside import Known, same_sample
from crowdblend.ledger.entry import normal_name
from crowdblend.ledger.history import replay
from crowdblend.ledger.identity import Identity
from crowdblend.ledger.location import locate
from tests.ledger.spendings import shared
from tests.ledger.test_hostile import begun
from tests.ledger.test_overlap import of


def test_a_record_holds_no_nan() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        chain.append(None, {"rate": math.nan})


def test_entries_are_numbered_one_after_the_other() -> None:
    assert replay([json.loads(begun(entry=1))]).entries[1].id == 1
    for number in (0, 2, "1", 1.0, True):
        with pytest.raises(DoesNotVerify):
            replay([json.loads(begun(entry=number))])


def test_a_name_has_single_spaces() -> None:
    assert normal_name(" residents  of A\u030arhus ") == "residents of Århus"


@pytest.mark.parametrize("rates", [(0.9, 0.05), (0.05, 0.9)])
def test_samples_have_in_common_what_the_smaller_rate_allows(rates: tuple[float, float]) -> None:
    """Half of them in common: few for samples of nearly everybody, far too many where one takes a twentieth."""
    known = [
        Known(replace(shared(name, name), rate=rate), Identity(f"source:{name}", "h", (of(people),)))
        for name, rate, people in zip("ab", rates, (range(400), range(200, 600)), strict=True)
    ]
    assert same_sample(*known)
    often = [replace(one, spending=replace(one.spending, rate=0.9)) for one in known]
    assert not same_sample(*often)


def test_a_refused_place_shows_its_scheme_and_no_password() -> None:
    with pytest.raises(InvalidInput, match="kept at mysql://") as refused:
        locate("mysql://steward:secret@host/ledger")
    assert "secret" not in str(refused.value)
