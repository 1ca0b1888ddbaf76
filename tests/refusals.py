"""How tests name a refusal: by its code where it has one of its own, else by words of its sentence."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from crowdblend.errors import CrowdblendError
from crowdblend.notation import TOML

_CODE = re.compile(r"[a-z]+\.[a-z-]+")


def is_refusal(error: CrowdblendError, expected: str) -> bool:
    """Whether an error is the expected one: a code such as `policy.unknown-key`, or a pattern of its sentence."""
    if _CODE.fullmatch(expected):
        return error.code == expected
    return re.search(expected, str(error)) is not None


@contextmanager
def refuses(code: str, where: str | None = None) -> Iterator[None]:
    """Fails unless what is inside is refused with this code, about a place, and at the place if one is given."""
    with pytest.raises(CrowdblendError) as caught:
        yield
    assert caught.value.code == code
    assert caught.value.where
    assert where is None or caught.value.in_notation(TOML).where == where
