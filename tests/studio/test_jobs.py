"""Jobs that were interrupted are resumed, old ones are deleted, and none follows a link that came after the page."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import NoReturn
from unittest import mock

import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.lab.demo import write_population
from crowdblend.publishing.release import release
from crowdblend.studio import work
from crowdblend.studio.jobs import JOB, STATUS, Jobs
from crowdblend.studio.places import Root
from crowdblend.studio.work import checked_policy
from tests.studio.conftest import Visitor
from tests.studio.model.kinds_of_choices import CASES
from tests.studio.test_pages import chosen, waited


def _ended(jobs: Path, number: str, state: str = "done", at: int = 0) -> Path:
    """The folder of a job that ended before the studio was started."""
    folder = jobs / number
    folder.mkdir(parents=True)
    (folder / JOB).write_text(json.dumps({"action": "release", "arguments": {}}), encoding="utf-8")
    (folder / STATUS).write_text(json.dumps({"state": state}), encoding="utf-8")
    os.utime(folder, (at, at))
    return folder


def _interrupted(phase: str, _: int) -> None:
    if phase == "writing":
        raise KeyboardInterrupt


@pytest.mark.parametrize("stopped", [SystemExit(143), KeyboardInterrupt()], ids=["python", "a query"])
def test_a_job_that_is_ended_is_cancelled(
    stopped: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB makes the second of the signal that ends the job."""

    def release(*_: object, **__: object) -> NoReturn:
        raise stopped

    monkeypatch.setattr(work, "signal", mock.Mock())
    monkeypatch.setitem(work.ACTIONS, "release", release)
    folder = _ended(tmp_path, "0" * 12, "running")
    with pytest.raises(type(stopped)):
        work.main(folder)
    assert json.loads((folder / STATUS).read_text())["state"] == "cancelled"


@pytest.mark.filterwarnings("ignore:No ledger")
def test_an_interrupted_release_is_resumed(visitor: Visitor, root: Path) -> None:
    write_population(root / "town.parquet", 600)
    policy = CASES["register"][1](root)
    policy.save(root / "p.toml")
    number = chosen(visitor, CASES["register"][0])
    with pytest.raises(KeyboardInterrupt):
        release(policy, root / "published", ledger=cb.Ledger(visitor.studio.ledger), progress=_interrupted)
    assert not (root / "published").exists()
    _ended(visitor.studio.state / "jobs", "0" * 12, "running")
    stopped = {"jobs": {"publish": "0" * 12}, "policy": "p.toml", "out": "published"}
    visitor.studio.drafts.change(number, lambda draft: replace(draft, **stopped))
    page = visitor.get(f"/drafts/{number}/publish").text
    assert "The job stopped without an answer" in page
    assert "Resume release 1" in page
    assert 'data-confirm="town"' not in page
    assert visitor.send(f"/drafts/{number}/resume").status_code == 303
    assert waited(visitor, number).state == "done"
    assert cb.verify(root / "published").facts["kind"] == "table"
    assert "See the result" in visitor.get(f"/drafts/{number}/publish").text
    assert [entry.status for entry in cb.Ledger(visitor.studio.ledger).entries()] == ["finished"]
    assert "There is nothing to resume" in visitor.send(f"/drafts/{number}/resume").text


def test_old_jobs_are_deleted_unless_a_draft_shows_them(tmp_path: Path) -> None:
    folders = [_ended(tmp_path, f"{number:012x}", at=number) for number in range(6)]
    (tmp_path / "not-a-job").mkdir()
    jobs = Jobs(tmp_path, lambda: ["0" * 12])
    jobs.prune(most=2)
    assert [folder.exists() for folder in folders] == [True, False, False, False, True, True]
    assert (tmp_path / "not-a-job").exists()
    jobs.prune(most=2)
    assert folders[4].exists()


def test_a_job_does_not_follow_a_link_that_came_after_the_page(visitor: Visitor, root: Path) -> None:
    (root.parent / "secret.csv").write_text("id,sex\n1,F\n", encoding="utf-8")
    cb.Policy(
        source=str(root / "people.csv"), person="id", population="town", columns={"sex": cb.values("F", "M")},
        sampling=cb.Poisson(0.1), epsilon=1, delta=1e-6, publish=cb.Table(),
    ).save(root / "p.toml")  # fmt: skip
    made = checked_policy(str(root / "p.toml"), str(root))
    assert made.kind == "table"
    assert made.terms.population == "town"
    (root / "people.csv").unlink()
    (root / "people.csv").symlink_to(root.parent / "secret.csv")
    with pytest.raises(InvalidInput, match="leads out"):
        checked_policy(str(root / "p.toml"), str(root))
    with pytest.raises(InvalidInput, match="leads out"):
        checked_policy(str(root.parent / "p.toml"), str(root))


def test_a_file_is_written_where_it_was_meant_to_be(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, outside = Root.at(root), root.parent / "outside"
    outside.mkdir()
    assert place.write("new/folder/h.csv", "a;b\n").read_text(encoding="utf-8") == "a;b\n"
    # Between the look and the writing somebody puts links there.
    monkeypatch.setattr(Root, "inside", lambda self, path: self.folder / path)
    (root / "h.csv").symlink_to(outside / "h.csv")
    (root / "linked").symlink_to(outside)
    place.write("h.csv", "text")
    with pytest.raises(OSError, match="linked"):
        place.write("linked/h.csv", "text")
    assert list(outside.iterdir()) == []
    assert not (root / "h.csv").is_symlink()


def test_a_job_imports_nothing_from_the_folder_of_the_data(
    visitor: Visitor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("numpy", "crowdblend", "msgspec"):
        (root / f"{name}.py").write_text("open('imported', 'w')\n", encoding="utf-8")
    monkeypatch.chdir(root)
    number = visitor.studio.jobs.start("attack", {"name": "duplicate", "runs": 0})
    while visitor.studio.jobs.get(number).running:
        time.sleep(0.05)
    assert not (root / "imported").exists()
    assert visitor.studio.jobs.get(number).state == "done"
