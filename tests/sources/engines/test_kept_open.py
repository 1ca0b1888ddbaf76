"""An engine whose sources stay open opens each once, and closes all of them when it is left."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.policies.resources import Resources
from crowdblend.policies.source import DataSource
from crowdblend.sources.engines.kept_open import KeptOpen
from crowdblend.sources.engines.memory import MemoryEngine


class Noting:
    """An engine that notes what it opens and closes."""

    name = "noting"
    assumptions = ()

    def __init__(self) -> None:
        self.noted: list[str] = []

    @contextmanager
    def open(
        self, data: DataSource, columns: Sequence[str], resources: Resources, progress: Any = None
    ) -> Iterator[Any]:
        self.noted.append(f"open {data.source} {' '.join(columns)}")
        yield object()
        self.noted.append(f"close {data.source}")

    def check(self, data: DataSource, columns: Sequence[str], resources: Resources) -> None:
        if "missing" in columns:
            raise InvalidInput("There is no such column.", where="columns", code="data.missing-column")
        self.noted.append(f"check {' '.join(columns)}")


def test_a_source_is_opened_once_and_closed_at_the_end() -> None:
    engine, here, there = Noting(), DataSource("a", "frame"), DataSource("b", "frame")
    with ExitStack() as stack:
        kept = KeptOpen(engine, stack)
        for _ in range(3):
            with kept.open(here, ["x"], Resources()) as first, kept.open(here, ["x"], Resources()) as second:
                assert first is second
        for _ in range(2):
            with kept.open(here, ["x", "y"], Resources()) as third, kept.open(there, ["x"], Resources()) as other:
                assert third is first is not other
        with kept.open(here, ["x"], Resources(threads=1)) as fourth:
            assert fourth is not first
        with pytest.raises(InvalidInput), kept.open(here, ["missing"], Resources()):
            pass
        assert engine.noted == ["open a x", "check x y", "open b x", "open a x"]
    assert engine.noted[4:] == ["close a", "close b", "close a"]


def test_it_says_of_itself_what_the_other_engine_says() -> None:
    engine = MemoryEngine([], [])
    kept = KeptOpen(engine, ExitStack())
    assert (kept.name, kept.assumptions) == (engine.name, engine.assumptions)
