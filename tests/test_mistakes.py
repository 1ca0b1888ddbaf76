"""What newcomers call and write: every mistake ends in one sentence that names the value or field and what to do."""

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
    "a rate in quotes": (("plan", "quoted.toml"), ("rate in [sampling]", "got '0.5'. Write it without quotes.")),
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
}


@for_each("name", IN_PYTHON)
def test_so_does_one_in_python(name: str) -> None:
    call, words = IN_PYTHON[name]
    with pytest.raises(CrowdblendError) as caught:
        call()
    assert caught.value.remedy
    for word in words:
        assert word in str(caught.value)
