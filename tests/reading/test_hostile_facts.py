"""Whoever wrote a certificate, reading its folder ends soon, with an answer or with one sentence."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from crowdblend.errors import CrowdblendError, DoesNotVerify
from crowdblend.methods.designs import Stratum
from crowdblend.methods.estimates.cells import CellLaws, estimator_of
from crowdblend.methods.estimates.laws import ExactCounts
from crowdblend.reading.release import read
from crowdblend.trusted.calculus import verify_file
from tests.cases import for_each

verified = cache(verify_file)
Facts = dict[str, Any]
WILD: tuple[Any, ...] = (None, True, 0, -1, 1e-300, 1e300, 10**30, 10**9, "x", [], {"a": 1})


def mechanism(name: str, value: Any) -> Callable[[Facts], None]:
    return lambda facts: facts["mechanism"].update({name: value})


def design(name: str, value: Any) -> Callable[[Facts], None]:
    return lambda facts: facts["design"].update({name: value})


CHANGES: dict[str, tuple[str, Callable[[Facts], None]]] = {
    **{f"k {value!r}": ("table", mechanism("k", value)) for value in WILD},
    **{f"rate {value!r}": ("table", design("rate", value)) for value in WILD},
    **{f"noise {value!r}": ("table-noise", mechanism("noise_epsilon", value)) for value in (*WILD, 1e-7)},
    **{f"noisy k {value!r}": ("table-noise", mechanism("k", value)) for value in WILD},
    **{f"threshold {value!r}": ("table-noise", mechanism("show_from", value)) for value in WILD},
    **{f"limit {value!r}": ("outlier-table", mechanism("limit", value)) for value in WILD},
    **{f"transition {value!r}": ("outlier-table", mechanism("transition", value)) for value in WILD},
    **{f"exceptions {value!r}": ("table-biased", design("exceptions", value)) for value in WILD},
    **{f"low {value!r}": ("table-biased", design("low", value)) for value in WILD},
    "a huge domain": ("table", lambda facts: facts["columns"].update(age={"size": 10**30})),
    "a negative domain": ("table", lambda facts: facts["columns"].update(age={"size": -4})),
    "widths of nothing": ("points", lambda facts: facts["axes"]["income"].update(width=0)),
}
# What could be the facts of a release; all others are refused when they are read.
POSSIBLE = {
    *(f"{what} {10**power}" for what in ("k", "noisy k", "threshold", "limit", "transition") for power in (9, 30)),
    *(f"noise {value!r}" for value in (1e-7, 1e300, 10**30, 10**9)),
    *(f"exceptions {value}" for value in (0, 10**9)),
    *("rate 1e-300", "low 1e-300", "threshold None", "a huge domain"),
}


@for_each("change", CHANGES)
def test_facts_that_nobody_should_believe(change: str, folders: dict[str, Path], tmp_path: Path) -> None:
    name, edit = CHANGES[change]
    folder = tmp_path / "hostile"
    shutil.copytree(folders[name], folder)
    certificate = verified(folders[name])
    facts = json.loads(json.dumps(dict(certificate.facts)))
    edit(facts)
    (folder / "certificate.json").write_text(replace(certificate, facts=facts).to_json())
    if change not in POSSIBLE:
        with pytest.raises(DoesNotVerify) as refused:
            read(folder)
        assert refused.value.code == "data-contradict"
        return
    opened = read(folder)
    try:
        margin: list[str] | None
        for margin in (None, []):
            opened.estimates(margin=margin)
            opened.notes(margin)
    except CrowdblendError:
        pass  # refused in words of ours


def test_cells_that_were_cut_are_never_added_up(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    shutil.copytree(folders["table-noise"], folder)
    certificate = verify_file(folder)
    noise = {**certificate.facts["mechanism"], "show_from": 20_000}
    edited = replace(certificate, facts={**certificate.facts, "mechanism": noise})
    (folder / "certificate.json").write_text(edited.to_json())
    with pytest.raises(CrowdblendError) as refused:
        read(folder).estimates(margin=[])
    assert refused.value.code == "reading.cut-cells"


def test_what_is_said_in_parts_of_a_hostile_certificate() -> None:
    half = Stratum.at_rate(0.5)
    assert estimator_of(ExactCounts(35), half) is not None
    assert estimator_of(ExactCounts(10**7), half) is None
    laws = CellLaws(None, {"a": 2**39, "b": 4})
    assert laws.finest_classes(["a"]) == 4
    # More cells than numbers of 64 bits can be multiplied with are not counted at all.
    assert laws.finest_classes([]) is None
