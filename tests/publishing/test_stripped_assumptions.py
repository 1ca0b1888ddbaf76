"""What is taken on trust stands in the certificate: without one assumption, or with one more, nothing verifies."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from crowdblend.errors import DoesNotVerify
from crowdblend.kinds.shared.facts import derive, read_facts
from crowdblend.reading.verification.consistency import check_certificate, verify_release
from crowdblend.trusted.calculus import Assumption, Certificate, verify
from tests.cases import for_each
from tests.publishing.test_mutated_certificates import EVERY, honest, is_accepted
from tests.trusted.calculus.documents import resealed

# Those that follow from facts; of the others nothing in a folder tells, so that the publisher alone vouches for them.
NOTICED = {
    Assumption.ASSUMED_RATE,
    Assumption.ASSUMED_SURVEY,
    Assumption.ROWS_ARE_PEOPLE,
    Assumption.PROPOSED_DOMAINS,
}
VOUCHED_FOR = {Assumption.IDS_OF_THE_TABLE, Assumption.SAMPLE_NOT_COMPARED, Assumption.CLUSTER_HOLDS_KEY}


@cache
def proposed() -> Certificate:
    """The certificate of a table whose domains were proposed from the data."""
    earlier, facts = honest("table-threshold"), {**honest("table").facts}
    facts["proposed"] = [dict(earlier.facts)]
    return Certificate(derive(read_facts(facts)), (Assumption.PROPOSED_DOMAINS,), facts)


def certificates() -> Iterator[tuple[str, Certificate]]:
    """Certificates of every kind and design."""
    return chain(((name, honest(name)) for name in EVERY), [("proposed", proposed())])


def test_every_assumption_of_a_folder_is_noticed_or_vouched_for() -> None:
    """The cases below state each of those that follow from facts, and nobody states another one."""
    assert {one for _, made in certificates() for one in made.stated} == NOTICED
    assert not NOTICED & VOUCHED_FOR


@for_each(("name", "made"), certificates)
def test_without_a_stated_assumption_or_with_one_more_nothing_is_accepted(name: str, made: Certificate) -> None:
    """Whoever changes the statement derives nothing else and computes the digest anew."""
    assert is_accepted(made), name
    for one in NOTICED:
        without = tuple(stated for stated in made.stated if stated is not one)
        other = without if one in made.stated else (*made.stated, one)
        assert not is_accepted(replace(made, stated=other)), one
    for one in VOUCHED_FOR:
        assert is_accepted(replace(made, stated=(*made.stated, one))), one


@for_each(("name", "made"), certificates)
def test_a_certificate_lists_every_assumption_of_its_steps(name: str, made: Certificate) -> None:
    document = made.to_dict()
    assert verify(resealed(document)).to_dict() == document, name
    for place in range(len(document["assumptions"])):
        listed = document["assumptions"][:place] + document["assumptions"][place + 1 :]
        with pytest.raises(DoesNotVerify):
            verify(resealed({**document, "assumptions": listed}))


@for_each("name", ["table-drawn", "table-rows", "statistics-rows"])
def test_a_folder_without_its_assumption_is_refused(name: str, releases: dict[str, Path], tmp_path: Path) -> None:
    made = verify_release(releases[name]).certificate
    without = tuple(one for one in made.stated if one not in NOTICED)
    assert without != made.stated
    with pytest.raises(DoesNotVerify, match="is not what it states"):
        check_certificate(replace(made, stated=without).to_json())
