"""The examples of the first pages and of every public name type-check in strict mode; wrong uses do not."""

import doctest
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from mypy import api

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "start").glob("*.md")), ROOT / "docs" / "api.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# pyarrow has no types, and an example shows the value of its last line.
UNCHECKED = (
    *("reportUnknownVariableType", "reportUnknownMemberType", "reportUnknownArgumentType"),
    "reportUnusedExpression",
)
STRICT = f"# pyright: strict, {', '.join(f'{rule}=false' for rule in UNCHECKED)}\n"
ERROR = re.compile(r"^(?:.*/)?(\w+)\.py:\d+: error: .*\[([a-z-]+)\]$", re.MULTILINE)
# The page of every public name shows what values have: its calls are right, and what comes out may be less or more.
SHOWN = {
    *("assignment", "attr-defined", "func-returns-value", "no-redef", "no-untyped-call", "no-untyped-def"),
    "union-attr",
}
# Frames are Any: pyarrow has no types and pandas ships none, so that anything narrower would be unknown to pyright.
SCRIPT = Path(__file__).with_name("yearly_release.py")
# Ways to give arguments that no page shows.
OTHER_WAYS = """
import datetime
from pathlib import Path
import crowdblend as cb
from crowdblend.lab.demo import town

sex, income = cb.values("female", "male"), cb.bounds(0, 200_000, resolution=100)
survey = cb.Policy(
    person="person_id", population="residents", sampling=cb.Poisson(rate=0.5, key="seal"), epsilon=1.0, delta=1e-6,
    columns={"sex": sex, "age": cb.intervals(0, 120, width=20)}, publish=cb.Table("sex", "age"),
)
survey.replace(publish=[cb.Table("sex", name="a", share=0.2), cb.Microdata("age", name="b", share=0.8)], split="people")
survey.replace(publish=cb.Table("sex", "age", below_k="noise", flag=True, name="noisy"))
survey.replace(columns={"sex": ["female", "male"], "zip": cb.prefix(3)}, publish=cb.Table())
survey.replace(source="people.csv", delimiter=";", encoding="cp1252", decimal=",", duplicates="one", format="csv")
survey.replace(source="postgresql://reader@db.example.org/registry", table="public.people")
survey.replace(releases=10, accept_delta=True, person=None, rows_are_people=True)
survey.replace(rows_per_person=3, sampling=cb.Everybody(), delta=None, publish=cb.Table("sex", "age", count="people"))
cb.Strata("region", {"north": 0.05, "south": 0.1}, already_drawn=True)
cb.Weights("weight", low=0.01, high=0.02)
cb.date("month", "2000-01-01", datetime.date(2030, 1, 1), missing="unknown")
cb.date(["day", "week", "month"], "2000-01-01", "2030-01-01")
cb.hierarchy(Path("education.csv"), level=2)
cb.hierarchy("jobs.csv", levels=[0, 2], weight=2.0)
cb.Points("x", "y", boxes=[cb.NamedBox(name="centre", box={"x": (0, 1), "y": (0, 1)})], show_blocks=True)
cb.Points("x", "y", quadtree=(cb.QuadtreeRegion(box={"x": (0, 1), "y": (0, 1)}, depth=4),))
cb.Synopsis(queries=[{"sex": "female"}, {"sex": "male", "education": "none"}], rows=1_000, mechanism="fitted")
cb.Statistics(cb.quantile("income", 0.9, name="top tenth", by=["sex"]), by="sex", group=4, confidence=0.9)
errors = cb.Statistics(cb.average("income", error=2_000), cb.fraction({"sex": ["female"]}, name="women"))
cb.Policy(
    person="id", sampling=cb.Survey(of=1_000_000), epsilon=1.0, columns={"sex": sex, "income": income}, publish=errors
)
survey.save("policy.toml", force=True)
text: str = cb.load_policy(Path("policy.toml")).to_toml()
done = cb.release(town(2_000).to_pandas(), "policy.toml", out=Path("out"), ledger=cb.Ledger.create("ledger.db"))
certificate: cb.Certificate = cb.verify(done.save("published", force=True))
words: list[str] = [*cb.read("published").notes(), *(one.words() for one in certificate.guarantees)]
"""
# Each with the error that mypy has to find in it.
WRONG = {
    "missing_publish": ("call-arg", "cb.Policy(person='id', columns={'sex': cb.values('f', 'm')})"),
    "unknown_argument": ("call-arg", "cb.Policy(publish=cb.Table('sex'), sample=10)"),
    "unknown_argument_of_a_table": ("call-arg", "cb.Table('sex', below='noise')"),
    "wrong_literal": ("arg-type", "cb.Table('sex', below_k='noisy')"),
    "wrong_split": ("arg-type", "cb.Policy(publish=cb.Table('sex'), split='persons')"),
    "no_limit": ("call-arg", "cb.OutlierTable('sex')"),
    "no_rate": ("call-arg", "cb.Coins()"),
    "no_design": ("arg-type", "cb.Policy(publish=cb.Table('sex'), sampling=0.5)"),
    "columns_that_are_numbers": ("arg-type", "cb.Table(1, 2)"),
    "text_for_a_number": ("arg-type", "cb.plan(rate='0.5', epsilon=1.0, delta=1e-6)"),
    "release_without_a_policy": ("call-arg", "cb.release('people.csv')"),
}


def page_sources() -> Iterator[tuple[str, str]]:
    """The Python of every page, as one file each."""
    for page in PAGES:
        text = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))
        if text:
            yield f"page_{page.stem.lower()}", doctest.script_from_examples(text)


def right_sources() -> dict[str, str]:
    """Every file that has to type-check, by its name."""
    return {**dict(page_sources()), "other_ways": OTHER_WAYS, SCRIPT.stem: SCRIPT.read_text(encoding="utf-8")}


def write_all(folder: Path, sources: Mapping[str, str]) -> list[str]:
    """Write files into a folder, and return their paths."""
    for name, text in sources.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return [str(folder / f"{name}.py") for name in sources]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """Every error that one run of mypy finds in all files, with the repository's settings and cache."""
    wrong = {f"wrong_{name}": f"import crowdblend as cb\n\n{text}\n" for name, (_, text) in WRONG.items()}
    files = write_all(tmp_path_factory.mktemp("types"), {**right_sources(), **wrong})
    with pytest.MonkeyPatch.context() as here:
        here.chdir(ROOT)
        printed, problem, _ = api.run(["--strict", *files])
    assert not problem, problem
    return ERROR.findall(printed)


def test_pages_and_other_ways_type_check(found: list[tuple[str, str]]) -> None:
    assert len(list(page_sources())) >= 5
    wrong = [(name, code) for name, code in found if not name.startswith("wrong_")]
    assert [one for one in wrong if one[0] != "page_api" or one[1] not in SHOWN] == []


def test_wrong_uses_do_not(found: list[tuple[str, str]]) -> None:
    assert {name: code for name, code in found if name.startswith("wrong_")} == {
        f"wrong_{name}": code for name, (code, _) in WRONG.items()
    }


def test_other_ways_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are run by test_examples."""
    monkeypatch.chdir(tmp_path)
    exec(OTHER_WAYS, {})


def test_the_script_runs_without_an_assert_or_a_cast(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not re.search(
        r"\bassert\b|\bcast\b|type: ignore", SCRIPT.read_text(encoding="utf-8").partition("import ")[2]
    )
    runpy.run_path(str(SCRIPT))["main"](tmp_path)
    printed = capsys.readouterr().out
    assert "ε = 2, δ = 0" in printed
    assert "1: finished" in printed
    assert printed.endswith("No finding\n")


@pytest.mark.slow
def test_pyright_agrees(tmp_path: Path) -> None:
    """A second opinion on the same files, in strict mode; `make test-slow` installs it."""
    pyright = Path(sys.executable).with_name("basedpyright")
    headers = {SCRIPT.stem: "# pyright: strict\n"}
    sources = {name: headers.get(name, STRICT) + text for name, text in right_sources().items() if name != "page_api"}
    files = write_all(tmp_path, sources)
    command = [pyright, "--level", "error", "--pythonpath", sys.executable, *files]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_the_first_example_is_short() -> None:
    (first, *_) = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(first.splitlines()) <= 12
