"""Events of commands and releases: what a scheduler and a steward's monitoring may know, and nothing else."""

import json
import logging
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from crowdblend.cli.progress import progress_line
from crowdblend.lab.demo import write_population
from crowdblend.ledger import Ledger
from crowdblend.trusted.machine import observing
from tests.commands import Finished, crowdblend
from tests.policies.policies import policy_text

PEOPLE = 4_321
POLICY = policy_text(
    data='source = "town.parquet"\nperson = "person_id"\npopulation = "residents"',
    sampling='design = "poisson"\nrate = 0.2',
    privacy="epsilon = 1.0\ndelta = 1e-6",
    columns='sex = { values = ["female", "male"] }',
    publish='kind = "table"',
)
METRIC = re.compile(r'crowdblend_(\w+)\{job="nightly"(?:,(\w+)="((?:[^"\\\n]|\\.)*)")?\} (\S+)')


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    write_population(tmp_path / "town.parquet", PEOPLE)
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    Ledger.create(tmp_path / "ledger.sqlite")
    with mock.patch.dict(os.environ, CROWDBLEND_LEDGER=str(tmp_path / "ledger.sqlite")):
        yield tmp_path


def release(place: Path, *options: str, out: str = "out") -> Finished:
    watched = ("--log", "log.jsonl", "--metrics", "nightly.prom")
    return crowdblend(*watched, "release", "policy.toml", "--out", out, "--yes", "--no-figures", *options, folder=place)


def events(place: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (place / "log.jsonl").read_text(encoding="utf-8").splitlines()]


def metrics(place: Path) -> dict[str, float]:
    """Return the samples of the file, every line of which has the form that the collector reads."""
    found = {}
    for line in (place / "nightly.prom").read_text(encoding="utf-8").splitlines():
        if not line.startswith(("# HELP crowdblend_", "# TYPE crowdblend_")):
            sample = METRIC.fullmatch(line)
            assert sample, line
            found[sample[1]] = float(sample[4])
    return found


def test_a_release_is_four_events_and_one_set_of_metrics(place: Path) -> None:
    Ledger(place / "ledger.sqlite").limit("residents", epsilon=4.0, delta=1e-4, by="ann")
    assert release(place).returncode == 0
    reading, recorded, published, command = events(place)
    names = [one["event"] for one in (reading, recorded, published, command)]
    assert names == ["reading", "recorded", "release", "command"]
    assert Path(str(reading["temporary_folder"])).is_dir()
    free = shutil.disk_usage(str(reading["temporary_folder"])).free
    assert 0.5 * free < int(str(reading["temporary_bytes"])) < free
    assert (recorded["entry"], published["entry"], command["entry"]) == (1, 1, 1)
    assert (published["epsilon"], published["left_epsilon"], published["limit_used"]) == (1.0, 3.0, 0.25)
    assert (command["command"], command["exit_code"], command["level"]) == ("release", 0, "info")
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(one["time"])) for one in events(place))
    found = metrics(place)
    assert (found["release_epsilon"], found["limit_left_epsilon"], found["command_exit_code"]) == (1.0, 3.0, 0)
    assert found["command_peak_memory_bytes"] % (1 << 26) == 0
    assert (place / "nightly.prom").stat().st_mode & 0o777 == 0o644


def test_a_refusal_is_an_event_with_its_code_and_keeps_what_the_last_release_spent(place: Path) -> None:
    assert release(place).returncode == 0
    done = release(place)
    last = events(place)[-1]
    assert (last["event"], last["exit_code"], last["code"]) == ("command", done.returncode, "output-exists")
    assert last["level"] == "error"
    found = metrics(place)
    assert (found["command_exit_code"], found["release_epsilon"]) == (done.returncode, 1.0)


def test_what_stops_after_the_record_names_the_entry_and_says_to_try_again(place: Path) -> None:
    with mock.patch("crowdblend.publishing.steps.describe", side_effect=OSError(28, "No space left")):
        done = release(place)
    last = events(place)[-1]
    assert (last["exit_code"], last["entry"], last["retry"]) == (6, 1, True) == (done.returncode, 1, True)
    assert [one["event"] for one in events(place)] == ["reading", "recorded", "command"]


def test_an_internal_error_is_an_event(place: Path) -> None:
    with mock.patch("crowdblend.cli.release.load_policy", side_effect=KeyError("x")), pytest.raises(KeyError):
        release(place)
    last = events(place)[-1]
    assert (last["exit_code"], last["code"]) == (70, "internal")


def test_no_event_metric_or_exported_record_holds_a_key_a_fingerprint_or_a_number_of_people(place: Path) -> None:
    (place / "policy.toml").write_text(POLICY.replace('population = "residents"', ""), encoding="utf-8")
    assert release(place).returncode == 0
    entry = Ledger(place / "ledger.sqlite").entry(1)
    exported = crowdblend("ledger", "export", folder=place).stdout
    written = "".join((place / name).read_text(encoding="utf-8") for name in ("log.jsonl", "nightly.prom")) + exported
    secrets = [entry.spending.source, entry.spending.sample, entry.spending.population, entry.identity]
    secrets += [entry.key_commitment, entry.spending.policy]
    for secret in secrets:
        assert secret is not None
        assert secret.split(":")[-1] not in written
    assert '"population": "unnamed"' in exported
    for number in {PEOPLE, *(it for it in entry.internal.values() if isinstance(it, int) and it > 99)}:
        assert not re.search(rf"(?<![\w.]){number}(?![\w.])", written), number


def test_exported_records_follow_a_number_or_a_day(place: Path) -> None:
    Ledger(place / "ledger.sqlite").limit("residents", epsilon=4.0, delta=1e-4, by="ann")
    assert release(place).returncode == 0
    lines = [json.loads(line) for line in crowdblend("ledger", "export", folder=place).stdout.splitlines()]
    assert [(one["record"], one["event"]) for one in lines] == [
        *((1, "created"), (2, "limit"), (3, "begun"), (4, "finished")),
    ]
    assert (lines[2]["epsilon"], lines[1]["by"]) == (1.0, "ann")
    assert lines[-1]["hash"] == Ledger(place / "ledger.sqlite").check()
    since = json.loads(crowdblend("ledger", "export", "--since", "3", "--json", folder=place).stdout)
    assert since["records"] == lines[3:]
    today = lines[0]["time"][:10]
    assert crowdblend("ledger", "export", "--since", today, folder=place).stdout.count("\n") == 4
    assert crowdblend("ledger", "export", "--since", "2999-01-01", folder=place).stdout.strip() == ""
    assert crowdblend("ledger", "export", "--since", "tomorrow", folder=place).returncode == 2


def test_a_log_that_cannot_be_written_is_refused_before_anything_is_spent(place: Path) -> None:
    for option in ("--log", "--metrics"):
        done = crowdblend(option, "missing/file", "release", "policy.toml", "--yes", folder=place)
        assert done.returncode == 2
        assert option in done.stderr
    assert not Ledger(place / "ledger.sqlite").entries()


def test_stderr_takes_events(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    crowdblend("--log", "-", "ledger", "list", folder=place)
    assert json.loads(capfd.readouterr().err)["command"] == "ledger list"


def test_options_of_every_command_stand_before_it(place: Path) -> None:
    wrong = crowdblend("ledger", "list", "--log", "log.jsonl", folder=place)
    assert (wrong.returncode, "Write it before the command" in wrong.stderr) == (2, True)


def test_python_users_attach_a_handler(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, observing.LOGGER):
        crowdblend("release", "policy.toml", "--yes", "--no-figures", folder=place)
    assert [json.loads(record.getMessage())["event"] for record in caplog.records] == ["reading", "recorded", "release"]


def test_labels_are_escaped(tmp_path: Path) -> None:
    gathered = observing.Metrics(tmp_path / "nightly.prom")
    facts = {"event": "release", "population": 'a "b"\\\nc', "entry": 1, "epsilon": 1.0, "delta": 0.0}
    facts |= {"limit_used": None, "left_epsilon": None, "left_delta": None}
    record = logging.LogRecord(observing.LOGGER, logging.INFO, "", 0, "", None, None)
    vars(record)["fields"] = facts
    gathered.handle(record)
    ended = {"event": "command", "command": "release", "exit_code": 0, "seconds": 1, "version": "0"}
    vars(record)["fields"] = ended | {"peak_memory_bytes": None}
    gathered.handle(record)
    assert metrics(tmp_path)["release_epsilon"] == 1.0
    assert r'population="a \"b\"\\\nc"' in (tmp_path / "nightly.prom").read_text(encoding="utf-8")


def test_progress_in_a_log_is_a_line_a_minute_without_numbers_of_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with progress_line(quiet=False) as progress:
        assert progress is not None
        for second in range(150):
            now[0] = float(second)
            progress("reading", 12_345 * second)
        progress.pause()
        now[0] = 200.0
        progress("writing", 3, 4)
    assert capsys.readouterr().err.splitlines() == [
        *("crowdblend: reading, 60 s", "crowdblend: reading, 120 s", "crowdblend: writing, 75 %, 200 s"),
    ]
