"""A folder verifies only if its data are what the certificate says, whatever hashes somebody wrote anew."""

import json
import math
import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from crowdblend.errors import DoesNotVerify
from crowdblend.reading.release import read
from crowdblend.reading.verification.consistency import verify_release
from crowdblend.trusted.calculus import Certificate, Derivation, sha256_of
from tests.cases import for_each
from tests.commands import crowdblend
from tests.golden.releases import POLICIES
from tests.trusted.calculus.documents import resealed

# What is made of facts and data: whoever forges these would write it anew, so that it must not be what is noticed.
EXPLANATIONS = ("README.md", "datapackage.json", "report.html")


def forged(
    folder: Path, target: Path, edit: Callable[[str], str], facts: Callable[[Any], object] | None = None
) -> Path:
    """A copy with edited data and new hashes, without explanations."""
    shutil.copytree(folder, target)
    document = json.loads((target / "certificate.json").read_text())
    for name in EXPLANATIONS:
        (target / name).unlink(missing_ok=True)
        document["facts"]["files"].pop(name, None)
    if facts is not None:
        facts(document["facts"])
    for name in document["facts"]["files"]:
        if name.endswith(".csv"):
            (target / name).write_text(edit((target / name).read_text()))
        document["facts"]["files"][name] = sha256_of(target / name)
    (target / "certificate.json").write_text(resealed(document))
    return target


def refused(folder: Path, code: str = "data-contradict") -> None:
    with pytest.raises(DoesNotVerify) as raised:
        verify_release(folder)
    assert raised.value.code == code


def unchanged(text: str) -> str:
    return text


@pytest.mark.parametrize("name", POLICIES)
def test_what_we_publish_verifies(name: str, releases: dict[str, Path], tmp_path: Path) -> None:
    checked = verify_release(releases[name])
    assert checked.uncovered == ()
    verify_release(forged(releases[name], tmp_path / "copy", unchanged))


def test_two_data_files_for_one_table_are_refused(releases: dict[str, Path], tmp_path: Path) -> None:
    both = shutil.copytree(releases["table"], tmp_path / "both")
    shutil.copy(both / "data.csv", both / "data.parquet")
    folder = forged(both, tmp_path / "forged", unchanged, lambda facts: facts["files"].update({"data.parquet": ""}))
    refused(folder)
    with pytest.raises(DoesNotVerify, match="two data files for one table"):
        read(folder)


def smallest_cell(text: str, count: int) -> str:
    """The last cell gets another count."""
    *before, last = text.splitlines()
    labels, _, *estimates = last.rsplit(",", 4)
    return "\n".join([*before, ",".join([labels, str(count), *estimates]), ""])


def without_last(text: str) -> str:
    return "\n".join([*text.splitlines()[:-1], ""])


def appended(line: str) -> Callable[[str], str]:
    return lambda text: f"{text}{line}\n"


def relabelled(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


def replaced(pattern: str, new: str) -> Callable[[str], str]:
    """The first match becomes something else; what was drawn differs between plans."""
    return lambda text: re.sub(pattern, new, text, count=1)


def estimates(*values: str) -> Callable[[str], str]:
    """The last cell gets another estimate and other ends."""

    def edit(text: str) -> str:
        *before, last = text.splitlines()
        return "\n".join([*before, ",".join([last.rsplit(",", 3)[0], *values]), ""])

    return edit


def narrowed(by: int) -> Callable[[str], str]:
    """Every interval loses so many people at both ends, where it is that wide."""

    def edit(text: str) -> str:
        header, *rows = text.splitlines()
        changed = []
        for row in rows:
            before, low, high = row.rsplit(",", 2)
            low, high = (str(int(low) + by) if low else low), (str(int(high) - by) if high else high)
            changed.append(f"{before},{low},{high}")
        return "\n".join([header, *changed, ""])

    return edit


# Every kind of release that has intervals, and how people were sampled for it.
WITH_INTERVALS = (
    *("table", "table-noise", "table-flag", "table-open", "table-drawn"),
    *("table-split", "table-register", "table-visits", "points", "outlier-table"),
)


def in_last_row(change: Callable[[str, str, str], str]) -> Callable[[str], str]:
    """The last row gets another estimate or other ends, made of its own."""

    def edit(text: str) -> str:
        *before, last = text.splitlines()
        kept, *known = last.rsplit(",", 3)
        return "\n".join([*before, f"{kept},{change(*known)}", ""])

    return edit


@for_each(
    "edit",
    [
        narrowed(1),
        narrowed(-1_000_000),  # so wide that nothing is said
        in_last_row(lambda estimate, low, high: f"{estimate},{int(low) + 1},{high}"),
        in_last_row(lambda estimate, low, high: f"{float(estimate or 40) * 1.25 + 1:.1f},{low},{high}"),
    ],
)
@for_each("name", WITH_INTERVALS)
def test_other_intervals_are_refused(
    name: str, edit: Callable[[str], str], releases: dict[str, Path], tmp_path: Path
) -> None:
    refused(forged(releases[name], tmp_path / "forged", edit))


@for_each("name", ["table", "table-noise", "points"])
def test_blank_intervals_claim_nothing(name: str, releases: dict[str, Path], tmp_path: Path) -> None:
    def edit(text: str) -> str:
        header, *rows = text.splitlines()
        return "\n".join([header, *(f"{row.rsplit(',', 3)[0]},,," for row in rows), ""])

    verify_release(forged(releases[name], tmp_path / "forged", edit))


def totals_backwards(text: str) -> str:
    header, *rows = text.splitlines()
    return "\n".join([header, *(rows[::-1] if header.startswith('"total"') else rows), ""])


def exchanged(one: int, other: int) -> Callable[[str], str]:
    """Two columns change places."""

    def edit(text: str) -> str:
        rows = [line.split('","' if line.startswith('"') else ",") for line in text.splitlines()]
        for row in rows:
            row[one], row[other] = row[other], row[one]
        return "\n".join([*('","'.join(row) for row in rows), ""])

    return edit


EDITS: list[tuple[str, Callable[[str], str]]] = [
    ("microdata", exchanged(1, 2)),
    ("table", estimates("900", "72", "1000")),
    ("table", estimates("", "1000", "72")),
    ("table", lambda text: smallest_cell(text, 34)),
    ("table", lambda text: smallest_cell(text, 1)),
    ("table", relabelled('"Harbour"', '"Atlantis"')),
    ("table", relabelled('"sampled"', '"people"')),
    ("table", lambda text: text + text.splitlines()[-1] + "\n"),
    ("table-split", lambda text: smallest_cell(text, 30)),
    ("table-population", relabelled("[0, 30)", "[0, 10)")),
    ("table-register", without_last),
    ("table-register", relabelled('"Harbour"', '"Atlantis"')),
    ("table-visits", totals_backwards),
    ("table-visits", relabelled('"people"', '"women"')),
    ("table-visits", lambda text: text + text.splitlines()[-1] + "\n"),
    ("table-noise", without_last),
    ("table-flag", relabelled(",false,", ",true,")),
    ("table-flag", lambda text: text.replace(',"exact"', "").replace(",true", "").replace(",false", "")),
    ("microdata", appended('"female","[0, 10)","University"')),
    ("microdata", relabelled('"Harbour"', '"Atlantis"')),
    ("points", replaced(r'(?<=",)(-?[0-9]+)500(?=,)', r"\g<1>400")),
    ("points", relabelled('"female"', '"other"')),
    ("outlier-table", without_last),
    ("statistics", replaced(r'"women",,[^,]+', '"women",,1.5')),
    ("statistics", replaced(r'"women",,[^,]+', '"women",,-0.5')),
    ("statistics", relabelled('"women"', '"men"')),
    ("statistics", relabelled('"error"', '"mistake"')),
    ("statistics", relabelled('"error"\n', '"error","note"\n')),
    ("statistics", relabelled("0.030273522071331122", "0.003")),
    ("statistics", without_last),
    ("synopsis", lambda text: text + text.splitlines()[-1] + "\n"),
    ("synopsis", relabelled('"Harbour"', '"Atlantis"')),
    ("graph", relabelled("0.0085005", "0.0005")),
    ("graph", relabelled("0.95", "0.99")),
    ("graph", replaced(r'"average-degree",[^,]+', '"average-degree",nan')),
]


@for_each(("name", "edit"), EDITS)
def test_edited_data_with_new_hashes_are_refused(
    name: str, edit: Callable[[str], str], releases: dict[str, Path], tmp_path: Path
) -> None:
    refused(forged(releases[name], tmp_path / "forged", edit))


def test_read_prints_nothing_of_data_that_contradict_their_certificate(
    releases: dict[str, Path], tmp_path: Path
) -> None:
    folder = forged(releases["table"], tmp_path / "forged", next(edit for name, edit in EDITS if name == "table"))
    done = crowdblend("read", folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Certificate and data contradict each other" in done.stderr


@for_each("name", ["table", "table-flag", "table-register", "table-population", "outlier-table", "microdata", "points"])
def test_rows_in_another_order_are_refused(name: str, releases: dict[str, Path], tmp_path: Path) -> None:
    """Who is written first would be another thing that is published; of what is sorted nothing is."""

    def swapped(text: str) -> str:
        header, *rows = text.splitlines()
        place = next(place for place, (one, other) in enumerate(pairwise(rows)) if one != other)
        rows[place], rows[place + 1] = rows[place + 1], rows[place]
        return "\n".join([header, *rows, ""])

    refused(forged(releases[name], tmp_path / "forged", swapped))


def design(**changed: Any) -> Callable[[Any], None]:
    """Forge how people were sampled."""
    return lambda facts: facts["design"].update(changed)


def mechanism(**changed: Any) -> Callable[[Any], None]:
    """Forge the mechanism that ran."""
    return lambda facts: facts["mechanism"].update(changed)


def other(**changed: Any) -> Callable[[Any], None]:
    return lambda facts: facts.update(changed)


SUPPRESSED = {"mechanism": "suppressed", "k": 35}
NOISY = {"mechanism": "noisy-below-k", "k": 35, "noise_epsilon": 1.0, "show_from": 1, "flag": False}
HALF = {"design": "poisson", "rate": 0.5}
FACTS: list[tuple[str, Callable[[Any], object]]] = [
    ("table", mechanism(k=1)),
    ("table", mechanism(k=36)),
    ("table", other(kind="synopsis")),
    ("table", other(kind="no such kind")),
    ("table", other(mechanism=NOISY)),
    ("table", other(mechanism=None)),
    ("table", other(columns=None)),
    ("table", other(epsilon=0.5)),
    ("table", other(epsilon=2.0)),
    ("table", other(delta=1e-7)),
    ("table", other(releases=5)),
    ("table-flag", other(mechanism=SUPPRESSED)),
    ("table-register", mechanism(noise_epsilon=2.0)),
    ("table-register", lambda facts: facts.pop("design")),
    ("table-register", other(design=HALF)),
    ("table-register", lambda facts: facts["columns"].pop("sex")),
    ("table-visits", mechanism(rows_per_person=1)),
    ("table-visits", lambda facts: facts["totals"][1].update(noise_epsilon=1.0)),
    ("table-visits", lambda facts: facts["totals"][0].update(rows_per_person=1)),
    ("table-visits", other(totals=[])),
    ("table", other(design={"design": "everybody"})),
    ("table", other(named={"fine": {"columns": ["sex"]}})),
    ("table", design(rate=0.25)),
    ("table", design(rate=None)),
    ("table", design(low=0.1, high=0.6)),
    ("table", other(design={"design": "biased", "low": 0.1, "high": 0.6})),
    ("table", design(design="coins")),
    ("table-drawn", design(rate=1.0)),
    ("table-drawn", design(design="poisson")),
    ("table-biased", design(low=0.11)),
    ("table-biased", design(rate=0.5)),
    ("table-biased", design(exceptions=0)),
    ("table-biased", design(already_drawn=True)),
    ("table-noise", mechanism(noise_epsilon=3.0)),
    ("table-noise", mechanism(flag=True)),
    ("table-noise", mechanism(flag=0)),
    ("table-noise", mechanism(show_from=1)),
    ("table-split", lambda facts: facts["recoding"].update(share=0.01)),
    ("table-split", lambda facts: facts["recoding"].pop("share")),
    ("table-split", lambda facts: facts.pop("recoding")),
    ("table-population", lambda facts: facts["recoding"]["choice"].update(epsilon=1e-6)),
    ("table-population", lambda facts: facts["recoding"].update(released_epsilon=0.1)),
    *(
        (name, lambda facts, change=change: facts["recoding"]["choice"].update(change))
        for name in ("table-population", "table-split")
        for change in ({"choices": 2}, {"score": {"score": "stated", "sensitivity": 1.0, "monotone": True}})
    ),
    ("table-register", design(rate=0.5)),
    ("outlier-table", design(rate=0.5)),
    ("outlier-table", other(design=HALF)),
    ("microdata", design(rate=0.25)),
    ("points", design(rate=0.25)),
    ("microdata", mechanism(k=2)),
    ("microdata", other(kind="table")),
    ("microdata", other(kind="table", mechanism=SUPPRESSED)),
    ("points", mechanism(k=2)),
    ("points", mechanism(noise_epsilon=0.5)),
    ("points", other(keep_in="bounds")),
    ("outlier-table", mechanism(limit=2)),
    ("synopsis", mechanism(rows=2)),
    ("synopsis", design(people=10)),
    ("synopsis", lambda facts: facts["queries"].update(conjunctions=1)),
    ("statistics", lambda facts: facts["statistics"].pop("women")),
    ("statistics", lambda facts: facts["statistics"]["women"].update(noise_epsilon=0.1)),
    ("statistics", other(people=None)),
    ("statistics", other(confidence=0.99)),
    ("statistics", other(epsilon=0.5)),
    ("statistics", design(people=20)),
    ("graph", lambda facts: facts["statistics"][0].update(scale=0.1)),
    ("graph", other(people=10)),
    *((name, other(parameters={"k": 2})) for name in ("table", "statistics", "graph")),
]


@for_each(("name", "facts"), FACTS)
def test_facts_for_readers_that_are_not_derived_are_refused(
    name: str, facts: Callable[[Any], object], releases: dict[str, Path], tmp_path: Path
) -> None:
    refused(forged(releases[name], tmp_path / "forged", unchanged, facts))


def rederived(step: Derivation, rule: str, changed: dict[str, float]) -> Derivation:
    """The same derivation with other parameters wherever a rule has them: every conclusion follows anew."""
    premises = [rederived(premise, rule, changed) for premise in step.premises]
    own = {name: value for name, value in changed.items() if name in step.parameters and step.rule.id.startswith(rule)}
    return step.rule(*premises, **{**step.parameters, **own})


def least(derivations: tuple[Derivation, ...], name: str) -> float:
    """The smallest ε or δ that is claimed."""
    return min(getattr(step.conclusion, name, math.inf) for step in derivations)


@for_each(
    ("name", "rule", "changed"),
    [
        ("points", "points", {"noise_epsilon": 0.2}),
        ("statistics", "", {"samples": 1}),
        ("statistics", "", {"population": 10**9}),
        ("statistics", "totals", {"noise_epsilon": 1e-9}),
        ("statistics-rows", "totals", {"noise_epsilon": 1e-9}),
        ("synopsis", "", {"samples": 1}),
        ("synopsis", "", {"noise_epsilon": 1e-6}),
        ("synopsis-chosen", "synopsis.exponential", {"epsilon": 1e-6}),
        ("table-visits", "register.total", {"rows_per_person": 1}),
        ("table-population", "selection.exponential", {"epsilon": 1e-6}),
        ("table-split", "selection.exponential", {"epsilon": 1e-6}),
    ],
)
def test_a_derivation_that_contradicts_the_facts_is_refused(
    name: str, rule: str, changed: dict[str, float], releases: dict[str, Path], tmp_path: Path
) -> None:
    honest = verify_release(releases[name]).certificate
    made = tuple(rederived(step, rule, changed) for step in honest.derivations)
    assert least(made, "epsilon") < least(honest.derivations, "epsilon") or least(made, "delta") < least(
        honest.derivations, "delta"
    ), "the forgery claims more than is true"
    folder = forged(releases[name], tmp_path / "forged", unchanged)
    facts = verify_release(folder).certificate.facts
    (folder / "certificate.json").write_text(Certificate(made, honest.stated, facts).to_json(), encoding="utf-8")
    refused(folder)


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_explanations_that_say_something_else_are_refused(name: str, releases: dict[str, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(releases["table"], tmp_path / "forged")
    text = (folder / name).read_text(encoding="utf-8")
    assert "35" in text
    (folder / name).write_text(text.replace("35", "34", 1), encoding="utf-8")
    honest = verify_release(releases["table"]).certificate
    facts = {**honest.facts, "files": {**honest.facts["files"], name: sha256_of(folder / name)}}
    written = Certificate(honest.derivations, honest.stated, facts).to_json()
    (folder / "certificate.json").write_text(written, encoding="utf-8")
    refused(folder)
