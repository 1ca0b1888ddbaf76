"""Whoever wrote a certificate, reading its folder ends soon, with an answer or with one sentence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crowdblend.calculus import verify_file
from crowdblend.errors import CrowdblendError
from crowdblend.estimates import estimator_of, finest_cells
from crowdblend.reading.release import read

Facts = dict[str, Any]
WILD: tuple[Any, ...] = (None, True, 0, -1, 1e-300, 1e300, 10**30, 10**9, "x", [], {"a": 1})


def parameter(name: str, value: Any) -> Callable[[Facts], None]:
    return lambda facts: facts["parameters"].update({name: value})


def threshold(value: Any) -> Callable[[Facts], None]:
    return lambda facts: facts.update(show_from=value)


CHANGES: dict[str, tuple[str, Callable[[Facts], None]]] = {
    **{f"k {value!r}": ("table", parameter("k", value)) for value in WILD},
    **{f"rate {value!r}": ("table", parameter("rate", value)) for value in WILD},
    **{f"noise {value!r}": ("table-noise", parameter("noise_epsilon", value)) for value in (*WILD, 1e-7)},
    **{f"noisy k {value!r}": ("table-noise", parameter("k", value)) for value in WILD},
    **{f"threshold {value!r}": ("table-noise", threshold(value)) for value in WILD},
    **{f"limit {value!r}": ("outlier-table", parameter("limit", value)) for value in WILD},
    **{f"transition {value!r}": ("outlier-table", parameter("transition", value)) for value in WILD},
    **{f"exceptions {value!r}": ("table-biased", parameter("exceptions", value)) for value in WILD},
    **{f"low {value!r}": ("table-biased", parameter("low", value)) for value in WILD},
    "a huge domain": ("table", lambda facts: facts["columns"].update(age={"size": 10**30})),
    "a negative domain": ("table", lambda facts: facts["columns"].update(age={"size": -4})),
    "widths of nothing": ("points", lambda facts: facts.update(blocks=None, widths={"income": 0})),
}


@pytest.mark.parametrize("change", CHANGES)
def test_facts_that_nobody_should_believe(change: str, folders: dict[str, Path], tmp_path: Path) -> None:
    name, edit = CHANGES[change]
    folder = tmp_path / "hostile"
    shutil.copytree(folders[name], folder)
    certificate = verify_file(folder)
    facts = json.loads(json.dumps(dict(certificate.facts)))
    edit(facts)
    try:
        (folder / "certificate.json").write_text(replace(certificate, facts=facts).to_json())
        opened = read(folder)
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
    edited = replace(certificate, facts={**certificate.facts, "show_from": 20_000})
    (folder / "certificate.json").write_text(edited.to_json())
    with pytest.raises(CrowdblendError) as refused:
        read(folder).estimates(margin=[])
    assert refused.value.code == "reading.cut-cells"


def test_what_is_said_in_parts_of_a_hostile_certificate() -> None:
    facts = {"kind": "table", "below_k": "suppress", "columns": {"a": {"size": 2**39}, "b": {"size": 4}}}
    assert estimator_of({**facts, "parameters": {"k": 35, "rate": 0.5}}) is not None
    assert estimator_of({**facts, "parameters": {"k": 10**7, "rate": 0.5}}) is None
    assert finest_cells(facts, ["a"]) == 4
    # More cells than numbers of 64 bits can be multiplied with are not counted at all.
    assert finest_cells(facts, []) is None
