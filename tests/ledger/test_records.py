"""What a record may hold, and in which order records may follow each other."""

import math
from dataclasses import replace

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.ledger.conflicts import KnownRelease, same_sample
from crowdblend.ledger.entry import normal_name
from crowdblend.ledger.identity import Identity
from crowdblend.ledger.store import locate
from tests.ledger.spendings import shared
from tests.ledger.test_overlap import of


def test_a_record_holds_no_nan() -> None:
    with pytest.raises(InvalidInput, match="probability"):
        replace(shared(), rate=math.nan)


def test_a_name_has_single_spaces() -> None:
    assert normal_name(" residents  of A\u030arhus ") == "residents of Århus"


@pytest.mark.parametrize("rates", [(0.9, 0.05), (0.05, 0.9)])
def test_samples_have_in_common_what_the_smaller_rate_allows(rates: tuple[float, float]) -> None:
    """Half of them in common: few for samples of nearly everybody, far too many where one takes a twentieth."""
    known = [
        KnownRelease(replace(shared(name, name), rate=rate), Identity(f"source:{name}", "h", (of(people),)))
        for name, rate, people in zip("ab", rates, (range(400), range(200, 600)), strict=True)
    ]
    assert same_sample(*known)
    often = [replace(one, spending=replace(one.spending, rate=0.9)) for one in known]
    assert not same_sample(*often)


def test_a_refused_place_shows_its_scheme_and_no_password() -> None:
    with pytest.raises(InvalidInput, match="kept at mysql://") as refused:
        locate("mysql://steward:secret@host/ledger")
    assert "secret" not in str(refused.value)
