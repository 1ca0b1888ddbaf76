"""How tests name a refusal: by its code where it has one of its own, else by words of its sentence."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from crowdblend.errors import CrowdblendError
from crowdblend.notation import PYTHON, TOML, Notation, spell

_CODE = re.compile(r"[a-z]+\.[a-z-]+")
_SECTION = r"\[\[?(data|about|columns|sampling|privacy|recoding|release|publish)[\].]"
# What one notation has and the other has not; what the steward wrote stands in quotes.
NOT_PYTHON = re.compile(
    rf"{_SECTION}|= (true|false)\b|\b[a-z_]+ = \"|--[a-z]|\bcrowdblend (check|release|synthesize)\b"
)
NOT_TOML = re.compile(r"\b[a-z_]+=(True|False|\"|\[|\{)|\b[A-Z]\w+\(…\)|\bLedger\.")


def assert_spelled(error: CrowdblendError) -> None:
    """Fails where a refusal has the notation of policy files in Python, or that of Python on a terminal."""
    for notation, foreign in ((PYTHON, NOT_PYTHON), (TOML, NOT_TOML)):
        said = " ".join(_without_names(spell(text, notation)) for text in error.refusal if text is not None)
        assert not foreign.search(said), said


def _without_names(text: str) -> str:
    return re.sub(r"(?<!\w)'[^']*'(?!\w)", "''", text)


def is_refusal(error: CrowdblendError, expected: str) -> bool:
    """Whether an error is the expected one: a code such as `policy.unknown-key`, or a pattern of its sentence."""
    assert_spelled(error)
    if _CODE.fullmatch(expected):
        return error.code == expected
    return re.search(expected, str(error)) is not None


@contextmanager
def refuses(code: str, where: str | None = None) -> Iterator[None]:
    """Fails unless what is inside is refused with this code, about a place, and at the place if one is given."""
    with pytest.raises(CrowdblendError) as caught:
        yield
    assert_spelled(caught.value)
    assert caught.value.code == code
    assert caught.value.where
    assert where is None or where_of(caught.value) == where


def where_of(error: CrowdblendError, notation: Notation = TOML) -> str | None:
    """The place that an error is about, as policy files have it."""
    where = error.refusal.where
    return where and spell(where, notation)
