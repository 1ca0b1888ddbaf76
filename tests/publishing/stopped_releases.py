"""Releases that are stopped in the middle, in a steward's folder that `prepare` made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crowdblend.errors import CrowdblendError
from crowdblend.ledger import Ledger
from crowdblend.policies.load import load_policy
from crowdblend.publishing.release import release

FILES = ("data.csv", "certificate.json")


def begin(place: Path, ledger: Ledger, **given: Any) -> Any:
    path = place / "policy.toml"
    return release(load_policy(path), place / "out", ledger=ledger, policy_file=path, **given)


def expected(place: Path, key: bytes) -> dict[str, bytes]:
    """What a release with this key publishes; it is recorded in a ledger of its own."""
    ledger = Ledger.create(place / "expected.sqlite")
    done = release(load_policy(place / "policy.toml"), place / "expected", key=key, ledger=ledger)
    return {name: (done.folder / name).read_bytes() for name in FILES}


def published(place: Path) -> dict[str, bytes]:
    return {name: (place / "out" / name).read_bytes() for name in FILES}


def leftovers(place: Path) -> list[str]:
    return [file.name for file in place.iterdir() if file.name.startswith(".")]


def stop(problem: BaseException) -> Callable[..., Any]:
    def stopped(*_: Any, **__: Any) -> None:
        raise problem

    return stopped


def stopped_by(problem: BaseException, owner: Any, name: str, place: Path, ledger: Ledger) -> Any:
    """Begin a release in which a function has this problem, and return what is raised."""
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(owner, name, stop(problem))
        with pytest.raises(BaseException) as stopped:  # noqa: PT011
            begin(place, ledger)
    assert isinstance(stopped.value, CrowdblendError | type(problem))
    return stopped.value


def refusal_of(call: Callable[..., Any], *given: Any) -> tuple[type, str]:
    """Return the class and the code of the refusal that a call meets."""
    with pytest.raises(CrowdblendError) as refused:
        call(*given)
    return type(refused.value), refused.value.code
