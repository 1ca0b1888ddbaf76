"""`crowdblend release` and its neighbours keep the contract of the command line."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NoReturn
from unittest import mock

import duckdb
import pytest

import crowdblend as cb
from crowdblend.errors import Refused
from crowdblend.lab.demo import write_population
from crowdblend.ledger import Ledger
from crowdblend.sources.engines.duckdb.database import redact, small_database
from tests import commands
from tests.commands import Finished
from tests.policies.policies import policy_text
from tests.refusals import refuses

POLICY = policy_text(
    data='source = "town.parquet"\nperson = "person_id"',
    sampling='design = "poisson"\nrate = 0.2',
    privacy="epsilon = 1.0\ndelta = 1e-6",
    columns='sex = { values = ["female", "male"] }\nage = { from = 0, to = 100, width = 20, top = true }',
    publish='kind = "table"',
)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("town")
    write_population(folder / "town.parquet", 5_000)
    return folder


@pytest.fixture
def place(town: Path, tmp_path: Path) -> Path:
    (tmp_path / "town.parquet").symlink_to(town / "town.parquet")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    Ledger.create(tmp_path / "ledger.sqlite")
    return tmp_path


def crowdblend(place: Path, *arguments: str, stdin: str = "") -> Finished:
    """In this process; what a process of its own is needed for starts one below."""
    with mock.patch.dict(os.environ, CROWDBLEND_LEDGER=str(place / "ledger.sqlite")):
        return commands.crowdblend(*arguments, stdin=stdin, folder=place)


def test_dry_run_writes_nothing(place: Path) -> None:
    done = crowdblend(place, "release", "policy.toml", "--dry-run")
    assert done.returncode == 0
    assert "would mean" in done.stdout
    assert "k = 12" in done.stdout
    described = json.loads(crowdblend(place, "release", "policy.toml", "--dry-run", "--json").stdout)
    assert described["k"] == described["facts"]["mechanism"]["k"] == 12
    assert sorted(file.name for file in place.iterdir()) == ["ledger.sqlite", "policy.toml", "town.parquet"]
    (place / "policy.toml").write_text(POLICY.replace("age =", "aeg ="))
    wrong = crowdblend(place, "release", "policy.toml", "--dry-run")
    assert wrong.returncode == 2
    assert "aeg" in wrong.stderr


def test_a_missing_source_is_refused_before_there_is_a_ledger(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "town.parquet").unlink()
    home = place / "home"
    monkeypatch.delenv("CROWDBLEND_LEDGER", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    done = commands.crowdblend("release", "policy.toml", "--yes", "--json", folder=place)
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "data.unreadable"
    monkeypatch.chdir(place)
    with refuses("data.unreadable"):
        cb.release(None, "policy.toml", out="out")
    assert not home.exists()
    assert not (place / "out").exists()


def test_release_verify_report_ledger(place: Path) -> None:
    done = crowdblend(place, "release", "policy.toml", "--out", "published", "--yes")
    assert done.returncode == 0, done.stderr
    assert "crowdblend verify published" in done.stdout
    assert crowdblend(place, "verify", "published").returncode == 0
    assert crowdblend(place, "report", "published").returncode == 2
    assert crowdblend(place, "report", "published", "--force").returncode == 2
    assert crowdblend(place, "report", "published", "--out", "page.html").returncode == 0
    assert (place / "page.html").read_bytes() == (place / "published" / "report.html").read_bytes()
    listed = crowdblend(place, "ledger", "list", "--json")
    assert listed.returncode == 0
    assert "published" in listed.stdout
    again = crowdblend(place, "release", "policy.toml", "--out", "published", "--yes")
    assert again.returncode == 2
    assert "--force" in again.stderr


def test_json_is_one_object(place: Path) -> None:
    done = crowdblend(place, "release", "policy.toml", "--json", "--yes")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert document["folder"] == "policy"
    assert (place / "policy" / "certificate.json").is_file()


@pytest.mark.parametrize("how", [(), ("--json",)])
def test_nobody_there_to_ask(place: Path, how: tuple[str, ...]) -> None:
    done = crowdblend(place, "release", "policy.toml", *how)
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert not (place / "policy").exists()


def test_the_second_release_of_a_drawn_table_is_refused(place: Path) -> None:
    (place / "policy.toml").write_text(POLICY.replace("poisson", "coins"))
    assert crowdblend(place, "release", "policy.toml", "--out", "a", "--yes").returncode == 0
    second = crowdblend(place, "release", "policy.toml", "--out", "b", "--yes")
    assert second.returncode == 3
    assert len(second.stderr.strip().splitlines()) == 1
    assert not (place / "b").exists()


@pytest.mark.parametrize("typed", ["", "\n", "n\n", "no\n"])
def test_nothing_but_yes_publishes(place: Path, typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdblend.cli.release._asks", lambda: True)
    done = crowdblend(place, "release", "policy.toml", "--out", "published", stdin=typed)
    assert done.returncode != 0
    assert not (place / "published").exists()
    assert Ledger(place / "ledger.sqlite").entries() == ()


def test_stdin_is_a_source(place: Path) -> None:
    (place / "policy.toml").write_text(
        POLICY.replace('source = "town.parquet"', 'source = "-"\nformat = "csv"').replace("rate = 0.2", "rate = 0.9")
    )
    rows = "person_id,sex,age\n" + "".join(f"{i},{'female' if i % 3 else 'male'},{i % 90}\n" for i in range(4_000))
    done = crowdblend(place, "release", "policy.toml", "--out", "published", "--yes", stdin=rows)
    assert done.returncode == 0, done.stderr


def test_init_writes_a_policy_to_fill_in(place: Path) -> None:
    done = crowdblend(
        place, "init", "town.parquet", "--design", "poisson", "--out", "new.toml", "--schema", "schema.json"
    )
    assert done.returncode == 0, done.stderr
    text = (place / "new.toml").read_text(encoding="utf-8")
    assert "person_id" in text
    assert "Harbour" not in text
    assert json.loads((place / "schema.json").read_text())["$schema"].startswith("https://json-schema.org")
    unfinished = crowdblend(place, "release", "new.toml", "--dry-run")
    assert unfinished.returncode == 2
    assert "FILL_IN" in unfinished.stderr or "fill" in unfinished.stderr.lower()


def test_a_demo_overwrites_nothing_unasked(place: Path) -> None:
    (place / "demo" / "town-noise").mkdir(parents=True)
    (place / "demo" / "town-noise" / "certificate.json").touch()
    done = crowdblend(place, "demo", "--out", "demo")
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert [file.name for file in (place / "demo").iterdir()] == ["town-noise"]
    assert crowdblend(place, "demo", "--out", "policy.toml", "--json").returncode == 2


def test_a_policy_on_stdout_is_no_json(place: Path) -> None:
    done = crowdblend(place, "init", "town.parquet", "--out", "-", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "command.two-outputs"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (('"female", "male"', '"female"'), "sex"),
        (('person = "person_id"', 'person = "id"'), "id"),
        (('kind = "table"', 'kind = "table"\nk = 3'), "delta"),
    ],
    ids=lambda change: change if isinstance(change, str) else None,
)
def test_wrong_policies_are_one_sentence(place: Path, change: tuple[str, str], named: str) -> None:
    (place / "policy.toml").write_text(POLICY.replace(*change))
    done = crowdblend(place, "release", "policy.toml", "--out", "published", "--yes")
    assert done.returncode in (1, 2)
    assert len(done.stderr.strip().splitlines()) == 1
    assert named in done.stderr
    assert not (place / "published").exists()
    assert not [file for file in place.iterdir() if "partial" in file.name]


def test_a_full_disk_leaves_nothing_behind(place: Path) -> None:
    """A limit on the size of files stands in for a full disk."""
    large = POLICY.replace('kind = "table"', 'kind = "microdata"').replace("rate = 0.2", "rate = 0.5")
    long_label = f'district = {{ values = ["Harbour"], other = "{"somewhere else " * 20}" }}'
    large = large.replace("[[publish]]", f'{long_label}\n[release]\nformat = "csv"\n[[publish]]')
    (place / "policy.toml").write_text(large)
    command = [sys.executable, "-m", "crowdblend", "release", "policy.toml", "--out", "published", "--yes"]
    limit = 256 * 1024
    done = subprocess.run(
        [*command, "--ledger", "ledger.sqlite"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 6
    assert "disk" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "crowdblend ledger resume 1 policy.toml --ledger ledger.sqlite" in done.stderr
    assert not [file for file in place.iterdir() if "published" in file.name]
    listed = json.loads(crowdblend(place, "ledger", "list", "--ledger", "ledger.sqlite", "--json").stdout)
    assert "unfinished" in json.dumps(listed)
    resumed = crowdblend(place, "ledger", "resume", "1", "policy.toml", "--ledger", "ledger.sqlite")
    assert resumed.returncode == 0, resumed.stderr
    assert crowdblend(place, "verify", "published").returncode == 0
    internal = crowdblend(place, "ledger", "show", "1", "--internal", "--json", "--ledger", "ledger.sqlite")
    assert json.loads(internal.stdout)["internal"]["people_sampled"] > 0


def test_ctrl_c_says_how_to_resume(place: Path) -> None:
    """Whoever presses Ctrl-C when the release is recorded gets it later, with the same output."""
    stopped = (
        "import crowdblend.reading.reports.write as write, crowdblend.cli.main as main, os, signal\n"
        # Where tests run in the background, the shell has them ignore Ctrl-C.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "write.write_report = lambda folder, **_: os.kill(os.getpid(), signal.SIGINT)\n"
        "main.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", stopped, "release", "policy.toml", "--out", "published", "--yes"],
        cwd=place,
        env={**os.environ, "CROWDBLEND_LEDGER": str(place / "ledger.sqlite")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130
    assert "crowdblend ledger resume 1 policy.toml" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (place / "published").exists()
    without = crowdblend(place, "ledger", "resume", "1")
    assert "Pass the policy that it was begun with." in without.stderr
    explained = crowdblend(place, "ledger", "resume", "-h").stdout.split()
    assert "left out where the process was killed" in " ".join(explained)
    assert crowdblend(place, "ledger", "resume", "1", "policy.toml").returncode == 0
    assert crowdblend(place, "verify", "published").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize(
    ("command", "stopped", "sentence"),
    [
        ("check policy.toml", "sources.checking.reading.check_rows", "Nothing was recorded."),
        ("release policy.toml --yes", "kinds.table.plan.TablePlan.read", "The release was not recorded."),
        ("release policy.toml --yes", "publishing.pending.identify", "The release was not recorded."),
        ("release policy.toml --yes", "cli.release._budget_after", "Release 1 is recorded and published."),
    ],
    ids=["check", "reading", "comparing", "published"],
)
def test_a_stopped_query_is_a_stopped_command(
    place: Path, number: signal.Signals, command: str, stopped: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB raises an error of its own for whatever a signal raises; nobody sees it, nor what it read."""

    def query(*_: object, **__: object) -> None:
        with small_database() as connection:
            threading.Timer(0.1, os.kill, (os.getpid(), number)).start()
            connection.execute("SELECT max('Alice' || a.range || b.range) FROM range(1000000) a, range(1000000) b")

    monkeypatch.setattr(f"crowdblend.{stopped}", query)
    # Where tests run in the background, the shell has them ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    done = crowdblend(place, *command.split())
    signal.signal(signal.SIGINT, before)
    assert done == (128 + number, "", f"\ncrowdblend: Stopped. {sentence}\n")
    assert len(Ledger(place / "ledger.sqlite").entries()) == ("is recorded" in sentence)


@pytest.mark.parametrize("made", [Refused("The source cannot be read.", remedy="Check it."), RuntimeError("odd")])
def test_whatever_is_made_of_a_signal_the_command_is_stopped(
    place: Path, made: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object, **__: object) -> NoReturn:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        except KeyboardInterrupt:
            raise made from None
        raise AssertionError

    monkeypatch.setattr("crowdblend.kinds.table.plan.TablePlan.read", read)
    done = crowdblend(place, "release", "policy.toml", "--yes")
    assert (done.returncode, done.stdout) == (143, "")
    assert done.stderr.strip().startswith("crowdblend: Stopped.")
    assert "source" not in done.stderr


def test_an_interruption_while_the_database_calls_python_is_one() -> None:
    with pytest.raises(KeyboardInterrupt), redact("The source cannot be read."):
        raise duckdb.InvalidInputException("reading the object registered as 'v' failed: KeyboardInterrupt: ")


def test_ctrl_c_at_the_question_says_that_nothing_was_recorded(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdblend.cli.release._asks", lambda: True)
    done = crowdblend(place, "release", "policy.toml")  # the end of input is to click what Ctrl-C is
    assert done.returncode == 130
    assert done.stderr.endswith("crowdblend: Stopped. The release was not recorded.\n")
    assert not Ledger(place / "ledger.sqlite").entries()


STATISTICS = policy_text(
    data='source = "town.parquet"\nperson = "person_id"',
    sampling='design = "survey"\npeople = 500\nof = 5000',
    privacy="epsilon = 1.0",
    columns='sex = { values = ["female", "male"] }\nage = { from = 0, to = 100, width = 20, top = true }',
    publish=(
        'kind = "statistics"',
        '[[publish.statistics]]\nname = "mean age"\naverage = "age"',
        '[[publish.statistics]]\nname = "women"\nfraction = { sex = "female" }',
    ),
)


def test_statistics_from_dry_run_to_verify(place: Path) -> None:
    (place / "policy.toml").write_text(STATISTICS, encoding="utf-8")
    dry = crowdblend(place, "release", "policy.toml", "--dry-run", "--json")
    assert dry.returncode == 0, dry.stderr
    told = json.loads(dry.stdout)
    assert {"error", "error_everybody", "error_sample", "way"} <= told["statistics"]["women"].keys()
    assert not (place / "policy").exists()
    done = crowdblend(place, "release", "policy.toml", "--yes", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "the data of 500 random people out of 5,000, you concealed" in done.stdout
    assert crowdblend(place, "verify", "out").returncode == 0
    assert crowdblend(place, "report", "out", "--out", "again.html").returncode == 0


def test_several_publications_from_dry_run_to_verify(place: Path) -> None:
    more = 'name = "fine"\n[[publish]]\nkind = "microdata"\nname = "people"\ncolumns = ["sex"]\n'
    (place / "policy.toml").write_text(POLICY + more, encoding="utf-8")
    planned = json.loads(crowdblend(place, "plan", "policy.toml", "--json").stdout)
    assert planned["kind"] == "programme"
    assert set(planned["publications"]) == {"fine", "people"}
    assert "fine" in crowdblend(place, "release", "policy.toml", "--dry-run").stdout
    done = crowdblend(place, "release", "policy.toml", "--yes", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert {"fine.parquet", "people.parquet"} <= {file.name for file in (place / "out").iterdir()}
    assert crowdblend(place, "verify", "out").returncode == 0
