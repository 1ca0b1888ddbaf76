"""What newcomers call and write: every mistake ends in one sentence that names the value or field and what to do."""

import functools
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError
from tests.cases import for_each
from tests.commands import crowdblend
from tests.test_remedies import POLICY, ROWS

# The command, and words of its sentence.
_INIT, _RELEASE = ("init", "people.csv", "--design", "poisson"), ("release", "policy.toml", "--yes")
MISTAKES: dict[str, tuple[tuple[object, ...], tuple[str, ...]]] = {
    "the data instead of a policy": (("release", "people.csv", "--dry-run"), ("'people.csv'", "crowdblend init")),
    "a policy that is not there": (("release", "polcy.toml", "--dry-run"), ("polcy.toml", "Name a policy")),
    "the policy as data": (("init", "policy.toml", "--design", "poisson"), ("policy.toml", "Name the data")),
    "a workbook": (("init", "people.xlsx", "--design", "poisson"), ("people.xlsx", "Save the sheet as CSV")),
    "no design": (("init", "people.csv", "--out", "new.toml"), ("a register, or a sample", "--design")),
    "a policy that exists": ((*_INIT, "--out", "policy.toml"), ("policy.toml exists", "--force")),
    "a person that is not there": (
        (*_INIT, "--person", "nr", "--out", "new"),
        ("'nr'", "Use a name from the first line"),
    ),
    "not completed": (("release", "started.toml", "--dry-run"), ("columns.sex.values", "Write what you know")),
    "nobody to ask": (("release", "policy.toml"), ("Not a terminal", "--yes")),
    "a ledger that is not there": ((*_RELEASE, "--ledger", "my.ledger"), ("my.ledger", "crowdblend ledger init")),
    "a folder that exists": ((*_RELEASE, "--ledger", "ledger.db", "--out", "taken"), ("taken", "--force")),
    "an unknown engine": (("release", "policy.toml", "--engine", "pandas"), ("pandas", "duckdb")),
    "a command that is not there": (("publish", "policy.toml"), ("publish", "--help")),
    "a command that is misspelled": (("relase", "policy.toml"), ("'relase'. Did you mean release? See",)),
    "an option that is misspelled": (("check", "policy.toml", "--fore"), ("'--fore'. Did you mean --force?",)),
    "a rate in quotes": (("plan", "quoted.toml"), ("[sampling] rate", "got '0.5'. Write it without quotes.")),
    "a rate in quotes that is none": (("plan", "percent.toml"), ("got '50'. Correct it: The share of people kept",)),
    "no folder to verify": (("verify", "publishd"), ("publishd", "Pass its path")),
    "data to verify": (("verify", "people.csv"), ("no certificate", "Name the folder of a release")),
    "data to read": (("read", "people.csv"), ("people.csv", "folder")),
    "everything to solve for": (("plan", "--k", "20"), ("rate, epsilon and delta", "Leave exactly one unset")),
    "a rate in percent": (("plan", "--rate", "50", "--epsilon", "1", "--delta", "1e-6"), ("rate", "50", "share")),
    "a column that is not there": (("check", "other.toml"), ("'Sexe'", "'sex'?")),
    "a rehearsal of nobody": (("rehearse", "policy.toml", "--people", "0"), ("people", "0")),
    "a hierarchy without a rule": (("hierarchy", "--out", "h.csv"), ("--",)),
}


@for_each("name", MISTAKES)
def test_a_natural_mistake_ends_in_a_sentence_that_names_it_and_what_to_do(name: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "people.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "started.toml").write_text(POLICY.replace('"Female", "Male"', '"FILL_IN"'))
    (tmp_path / "other.toml").write_text(POLICY.replace("sex =", "Sexe ="))
    for file, rate in (("quoted", "0.5"), ("percent", "50")):
        (tmp_path / f"{file}.toml").write_text(POLICY.replace("rate = 0.5", f'rate = "{rate}"'))
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "certificate.json").write_text("mine")
    assert crowdblend("ledger", "init", "ledger.db", folder=tmp_path).returncode == 0
    command, words = MISTAKES[name]
    done = crowdblend(*command, folder=tmp_path)
    assert done.returncode in (1, 2)
    sentence = done.stderr.strip()
    assert sentence.startswith("crowdblend: ")
    assert "\n" not in sentence
    for word in words:
        assert word in sentence, sentence


_FRAME = pd.DataFrame({"id": range(60), "sex": ["f", "m"] * 30})


def _policy(**changes: object) -> cb.Policy:
    given = {
        "person": "id",
        "sampling": cb.Poisson(0.5),
        "epsilon": 1.0,
        "delta": 1e-6,
        "columns": {"sex": cb.values("f", "m")},
        "publish": cb.Table("sex"),
    }
    return cb.Policy(**{**given, **changes})  # type: ignore[arg-type]


@functools.cache
def _done() -> cb.Release:
    tables = [cb.Table("sex", name="by_sex"), cb.Table("age", name="by_age")]
    columns = {"sex": cb.values("f", "m"), "age": cb.intervals(0, 60, width=20)}
    several = _policy(columns=columns, publish=tables)
    return cb.release(_FRAME.assign(age=30), several, ledger=None, figures=False)


IN_PYTHON: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "a design by its name": (lambda: _policy(sampling="poisson"), ("'poisson'", "Poisson(0.5)")),
    "a kind by its name": (lambda: _policy(publish="table"), ("publish", "Table(")),
    "an argument of another package": (lambda: _policy(eps=1.0), ("'eps'", "epsilon")),
    "a column misspelt": (lambda: _policy(publish=cb.Table("sx")), ("'sx'", "sex")),
    "a domain that is a number": (lambda: _policy(columns={"sex": 2}), ("'sex'", "Declare it with one of values")),
    "the policy first": (lambda: cb.release(_policy(), _FRAME, ledger=None), ("policy", "Policy(")),  # type: ignore[arg-type]
    "a list of dicts": (lambda: cb.release([{"id": 1}], _policy(), ledger=None), ("list", "Arrow")),
    "a column the frame lacks": (
        lambda: cb.release(_FRAME.rename(columns={"sex": "Sex"}), _policy(), ledger=None),
        ("'sex'", "'Sex'?"),
    ),
    # Policies.
    "a rate in percent": (lambda: cb.Poisson(50), ("rate", "50", "between 0 and 1")),
    "a number in quotes": (lambda: _policy(epsilon="1"), ("epsilon", "'1'", "without quotes")),
    "a class for a design": (lambda: _policy(sampling=cb.Poisson), ("the class Poisson", "Poisson(0.5)")),
    "no columns": (lambda: _policy(columns=None), ("'sex'", "Declare")),
    "a list of columns": (lambda: _policy(columns=["sex"]), ("columns takes domains by name", "columns={")),
    "a set of labels": (lambda: _policy(columns={"sex": {"f", "m"}}), ("'sex' has no domain", "values(…)")),
    "labels by number": (lambda: _policy(columns={"sex": {"f": 0, "m": 1}}), ("'sex' has no domain", "values(…)")),
    "a range": (lambda: _policy(columns={"age": range(100)}), ("'age' has no domain", "intervals(…)")),
    "breaks in a list": (lambda: cb.breaks([0, 10]), ("breaks takes a list of numbers",)),
    "bounds in the wrong order": (
        lambda: _policy(columns={"age": cb.intervals(90, 0, width=10)}, publish=cb.Table("age")),
        ("'age'", "90"),
    ),
    "a frame for a file": (lambda: cb.hierarchy(_FRAME), ("takes a path", "the type DataFrame")),  # type: ignore[arg-type]
    "names of columns to publish": (lambda: _policy(publish=["sex"]), ("publish", "Table(")),
    "publications by name": (lambda: _policy(publish={"by_sex": cb.Table("sex")}), ("publish", "Table(")),
    "nothing to publish": (lambda: _policy(publish=[]), ("publishes nothing", "Table")),
    "two of one name": (lambda: _policy(publish=[cb.Table(name="a"), cb.Table(name="a")]), ("'a'", "Rename")),
    "k for the policy": (lambda: _policy(k=20), ("'k'", "Table(k=20)")),
    "an argument to replace": (lambda: _policy().replace(eps=2.0), ("'eps'", "epsilon")),
    "a percentile": (lambda: cb.quantile("age", 90), ("at=90", "0.9")),
    "several quantiles": (lambda: cb.quantile("age", [0.1, 0.9]), ("one share", "list")),  # type: ignore[arg-type]
    "nothing to plan with": (cb.plan, ("unset", "exactly one")),
    "everything given": (lambda: cb.plan(k=20, rate=0.1, epsilon=1.0, delta=1e-6), ("all of them are set",)),
    "a policy that is missing": (lambda: cb.load_policy("no.toml"), ("no.toml", "Name a policy")),
    "text of a policy": (lambda: cb.load_policy(_policy().to_toml()), ("cannot be read",)),
    # Releases.
    "no such file of data": (lambda: cb.release("no.csv", _policy(), ledger=None), ("no.csv", "Check the path")),
    "a policy in a dict": (lambda: cb.release(_FRAME, {"epsilon": 1}, ledger=None), ("dict", "Policy(")),  # type: ignore[arg-type]
    "out that is a number": (lambda: cb.release(_FRAME, _policy(), out=3, ledger=None), ("out", "int", "path")),  # type: ignore[call-overload]
    "out that exists": (lambda: cb.release(_FRAME, _policy(), out="mine", ledger=None), ("mine exists", "another")),
    "a ledger that is a folder": (lambda: cb.release(_FRAME, _policy(), ledger="mine"), ("mine", "Name a file in it")),
    "a ledger that is data": (lambda: cb.release(_FRAME, _policy(), ledger="a.csv"), ("a.csv", "name another")),
    "True for a ledger": (lambda: cb.release(_FRAME, _policy(), ledger=True), ("ledger", "bool")),  # type: ignore[arg-type]
    "a bar of progress": (lambda: cb.release(_FRAME, _policy(), progress=True), ("progress takes a function",)),  # type: ignore[arg-type]
    "a password for a key": (lambda: cb.release(_FRAME, _policy(), key="secret"), ("key takes 32 bytes",)),  # type: ignore[arg-type]
    "an engine by its package": (lambda: cb.release(_FRAME, _policy(), engine="pandas"), ("'pandas'", "duckdb")),
    "no rows": (lambda: cb.release(_FRAME.iloc[:0], _policy(), ledger=None), ("no rows",)),
    "no person": (lambda: cb.release(_FRAME[["sex"]], _policy(), ledger=None), ("'id'", "spelling")),
    "frames glued together": (
        lambda: cb.release(pd.concat([_FRAME, _FRAME["sex"]], axis=1), _policy(), ledger=None),
        ("two columns called 'sex'", "Rename"),
    ),
    "a file to recode": (lambda: _policy().recode("a.csv"), ("recode takes a frame", "pandas.read_csv")),
    # What was released.
    "an unknown publication": (lambda: _done()["x"], ("'x'", "by_sex, by_age")),
    "a publication by its place": (lambda: _done()[0], ("no table 0", "by_sex")),  # type: ignore[index]
    "a list of publications": (lambda: _done()[["by_sex"]], ("['by_sex']", "by_age")),  # type: ignore[index]
    "an unknown margin": (lambda: _done().estimates(margin="height"), ("height", "by_sex")),
    "a margin by its place": (lambda: _done().estimates(margin=0), ("margin takes names", "got 0")),  # type: ignore[arg-type]
    "a margin twice": (lambda: _done().estimates(margin=["sex", "sex"]), ("twice", "once")),
    "a set for a margin": (lambda: _done().estimates(margin={"sex"}), ("margin takes names", "set")),  # type: ignore[arg-type]
    "confidence in percent": (lambda: _done().estimates(95), ("got 95", "0.95")),
    "confidence as text": (lambda: _done().estimates("95 %"), ("a share", "str")),  # type: ignore[arg-type]
    "rows as text": (lambda: _done().synthesize("100"), ("rows", "'100'")),  # type: ignore[arg-type]
    "True rows": (lambda: _done().synthesize(True), ("rows", "True")),
    "to save nowhere": (lambda: _done().save(None), ("folder", "NoneType")),  # type: ignore[arg-type]
    "to sign what is in memory": (lambda: _done().sign("key"), ("in memory", "Save it")),
    "rows from a frame": (lambda: cb.synthesize(_FRAME, rows=10), ("DataFrame", "release returned")),  # type: ignore[arg-type]
    # Reading and checking.
    "no folder": (lambda: cb.read("nowhere"), ("'nowhere' is not a folder", "certificate.json")),
    "a file to read": (lambda: cb.read("a.csv"), ("'a.csv' is not a folder",)),
    "a folder of something else": (lambda: cb.read("mine"), ("mine", "certificate")),
    "a release to read": (lambda: cb.read(_done()), ("Release", "path")),  # type: ignore[arg-type]
    "frames by nickname": (lambda: cb.read("mine", frames="pd"), ("'pd'", "pandas")),  # type: ignore[arg-type]
    "data to verify": (lambda: cb.verify("a.csv"), ("no certificate", "folder")),
    "a frame to verify": (lambda: cb.verify(_FRAME), ("DataFrame", "folder")),
    "a signer by number": (lambda: cb.verify("mine", signer=3), ("signer", "int")),  # type: ignore[arg-type]
    "a list to compose": (lambda: cb.compose([_done()]), ("list", "compose(one, other)")),
    "policies to compose": (lambda: cb.compose(_policy()), ("Policy", "plans")),
    "a frame to audit": (lambda: cb.audit(_FRAME), ("DataFrame", "Policy(")),  # type: ignore[call-overload]
    "a release to audit": (lambda: cb.audit(_done()), ("Release", "Policy(")),  # type: ignore[call-overload]
    "runs as text": (lambda: cb.audit(_policy(), runs="many"), ("runs", "str")),  # type: ignore[call-overload]
    "an audit of a part there is not": (lambda: cb.audit(_policy(), publication="x"), ("'x'", "Leave it out")),
    "data to rehearse": (lambda: cb.rehearse(_FRAME), ("DataFrame", "Policy(")),  # type: ignore[arg-type]
    "a ledger that is missing": (lambda: cb.Ledger("no.db").entries(), ("no.db", "Correct its name")),
    "an entry that is missing": (lambda: cb.Ledger.create("new.db").entry(7), ("no release 7",)),
    "a ledger that exists": (lambda: cb.Ledger.create("a.csv"), ("a.csv", "Name a new file")),
}


def test_the_mistakes_are_many() -> None:
    assert len(MISTAKES) + len(IN_PYTHON) >= 90


@for_each("name", IN_PYTHON)
def test_so_does_one_in_python(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("id,sex\n1,f\n")
    (tmp_path / "mine").mkdir()
    call, words = IN_PYTHON[name]
    with pytest.raises(CrowdblendError) as caught:
        call()
    assert caught.value.remedy
    for word in words:
        assert word in str(caught.value)


def test_a_frame_in_the_wrong_place_shows_no_value() -> None:
    frame = pd.DataFrame({"name": ["Ada Lovelace"]})
    for call in (
        lambda: cb.hierarchy(frame),  # type: ignore[arg-type]
        lambda: _policy(epsilon=frame),
        lambda: _policy(person=frame["name"]),
        lambda: _policy(columns={"sex": [frame]}),
        lambda: cb.plan(k=frame, rate=0.1, epsilon=1.0),  # type: ignore[arg-type]
        lambda: _done().estimates(margin=frame),  # type: ignore[arg-type]
        lambda: _done()[frame["name"]],  # type: ignore[index]
    ):
        with pytest.raises(CrowdblendError) as caught:
            call()
        assert "Lovelace" not in str(caught.value)
