"""A choice runs with the loss that it claims."""

from typing import Any

import numpy as np
import pytest

from crowdblend.errors import InvalidInput
from crowdblend.methods.selection import search as search_module
from crowdblend.methods.selection.lattice import Ladder, Lattice
from crowdblend.methods.selection.scores import score
from crowdblend.methods.selection.search import RecodingChoice, Search
from crowdblend.trusted.randomness import ReleaseKey

LADDER = Ladder("x", (np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, int)))
LATTICE = Lattice((LADDER, LADDER))
CODES = np.array([[code, 3 - code] for code in range(4)], dtype=np.int32)
COUNTS = np.array([5, 50, 20, 1])


@pytest.mark.parametrize("steps", [1, 3])
def test_what_runs_is_what_is_claimed(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[tuple[str, Any]] = []

    def recorded(name: str, function: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            used.append((name, named["epsilon"]))
            return function(*given, **named)

        return call

    monkeypatch.setattr(
        search_module,
        "choose_several",
        recorded("selection.exponential", search_module.choose_several),  # type: ignore[attr-defined]
    )
    search = Search.whole(LATTICE.shape) if steps == 1 else Search.in_steps(LATTICE.shape, steps)
    choice = RecodingChoice(LATTICE, score("loss", k=3, rate=0.5), search, 0.3)
    choice.run(LATTICE, CODES, COUNTS, ReleaseKey(bytes(32)))
    every = list(choice.claim().steps())
    claimed = [step.parameters["epsilon"] for step in every if step.rule.id.startswith("selection.")]
    assert sorted(claimed) == sorted(epsilon for _, epsilon in used)
    assert len(used) == steps
    assert every[0].conclusion.epsilon >= sum(claimed)


def test_a_lattice_with_other_weights_is_not_run() -> None:
    choice = RecodingChoice(LATTICE, score("loss", k=3, rate=0.5), Search.whole(LATTICE.shape), 0.3)
    heavier = Lattice((Ladder("x", LADDER.maps, weight=2.0), LADDER))
    with pytest.raises(InvalidInput) as refused:
        choice.run(heavier, CODES, COUNTS, ReleaseKey(bytes(32)))
    assert refused.value.code == "selection.lattice"
