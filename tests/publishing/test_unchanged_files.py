"""A source that is written while it is read is neither published nor recorded, and everything else is."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.ledger import Ledger
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release
from crowdblend.publishing.resuming import resume
from tests.policies.policies import policy_text

POLICY = policy_text(
    data='source = "people"\nformat = "csv"\nperson = "id"\npopulation = "town"',
    sampling='design = "everybody"',
    columns='sex = { values = ["f", "m"] }',
    privacy="epsilon = 1.0",
    publish='kind = "table"',
)


def add_row(people: Path) -> None:
    with (people / "a.csv").open("a") as file:
        file.write("999,f\n")


def replace_file(people: Path) -> None:
    shutil.copy2(people / "a.csv", people / "copy")
    (people / "copy").replace(people / "a.csv")


def add_file(people: Path) -> None:
    (people / "b.csv").write_text("id,sex\n999,f\n")


def remove_folder(people: Path) -> None:
    shutil.rmtree(people)


def touch_other(people: Path) -> None:
    (people / "notes.md").write_text("not data")


def written(folder: Path) -> Path:
    people = folder / "people"
    people.mkdir()
    (people / "a.csv").write_text("id,sex\n" + "".join(f"{at},{'fm'[at % 2]}\n" for at in range(100)))
    return people


def at_stage(stage: str, change: Callable[[Path], None], people: Path) -> Callable[[str, int], None]:
    """Report progress to a change that happens once a stage begins."""

    def progress(reached: str, _: int) -> None:
        if reached == stage and people.exists():
            change(people)

    return progress


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (add_row, "data.changed"),
        (replace_file, "data.changed"),
        (add_file, "data.changed"),
        (remove_folder, "data.unreadable"),
    ],
)
def test_files_that_change_before_they_are_recognized_are_refused(
    tmp_path: Path, change: Callable[[Path], None], code: str
) -> None:
    people, ledger = written(tmp_path), Ledger.create(tmp_path / "ledger.sqlite")
    progress = at_stage("comparing", change, people)
    with pytest.raises(InvalidInput) as refused:
        release(parse_policy(POLICY, tmp_path), tmp_path / "out", ledger=ledger, progress=progress)
    assert refused.value.code == code
    assert not list(ledger.entries())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("stage", "change"), [("comparing", touch_other), ("publishing", add_row)])
def test_other_files_and_later_changes_do_not_matter(
    tmp_path: Path, stage: str, change: Callable[[Path], None]
) -> None:
    people, ledger = written(tmp_path), Ledger.create(tmp_path / "ledger.sqlite")
    progress = at_stage(stage, change, people)
    assert release(parse_policy(POLICY, tmp_path), tmp_path / "out", ledger=ledger, progress=progress).entry == 1


def test_a_resumed_release_looks_as_well(tmp_path: Path) -> None:
    people, ledger = written(tmp_path), Ledger.create(tmp_path / "ledger.sqlite")
    policy = parse_policy(POLICY, tmp_path)

    def interrupt(stage: str, _: int) -> None:
        if stage == "publishing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(policy, tmp_path / "out", ledger=ledger, progress=interrupt)
    with pytest.raises(InvalidInput) as refused:
        resume(ledger, 1, policy, progress=at_stage("counting", replace_file, people))
    assert refused.value.code == "data.changed"
    assert not (tmp_path / "out").exists()
    assert resume(ledger, 1, policy).entry == 1
