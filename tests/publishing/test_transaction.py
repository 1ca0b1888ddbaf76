"""What goes wrong after the entry is recorded loses nothing: to resume the release publishes the same output."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crowdblend.errors import CrowdblendError, InvalidInput, NoRoom, Refused, Unavailable
from crowdblend.ledger import Ledger
from crowdblend.policies.load import load_policy, parse_policy
from crowdblend.publishing import committing, resuming, steps
from crowdblend.publishing.committing import recover
from crowdblend.publishing.resuming import resume
from crowdblend.publishing.staging import Completion, Journal, Staging, stagings_of
from crowdblend.publishing.target import check_target, exclusive_use
from crowdblend.reading.reports import write
from crowdblend.trusted.calculus import verify_file
from crowdblend.trusted.machine import system
from tests.ledger.spendings import spending
from tests.publishing.stopped_releases import FILES, begin, expected, leftovers, published, refusal_of, stop, stopped_by


@pytest.mark.parametrize(
    ("problem", "error", "code"),
    [
        (RuntimeError("record 17: Alice"), Refused, "stopped"),
        (OSError(28, "No space left on device"), Unavailable, "write-failed"),
        (MemoryError(), Unavailable, "out-of-memory"),
        (InvalidInput("no figure."), InvalidInput, "invalid-input"),
        (KeyboardInterrupt(), KeyboardInterrupt, None),
        (SystemExit(143), SystemExit, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_a_failure_after_the_entry_is_resumed_to_the_same_bytes(
    place: Path, ledger: Ledger, problem: BaseException, error: type[BaseException], code: str | None
) -> None:
    stopped = stopped_by(problem, write, "write_report", place, ledger)
    assert isinstance(stopped, error)
    how = stopped.remedy if isinstance(stopped, CrowdblendError) else stopped.__notes__[0]
    assert "crowdblend ledger resume 1" in how
    assert "Alice" not in str(stopped)
    if isinstance(stopped, CrowdblendError):
        assert stopped.code == code
    assert not (place / "out").exists()
    assert not leftovers(place)
    assert ledger.entry(1).status == "unfinished"
    same = expected(place, ledger.key(1))
    done = resume(ledger, 1, load_policy(place / "policy.toml"))
    assert published(place) == same
    assert verify_file(done.folder).to_dict()["digest"] == ledger.entry(1).certificate_digest
    assert ledger.entry(1).internal["people_sampled"] > 0


def test_a_crash_leaves_word_of_its_policy(place: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is killed removes nothing: its journal says where the policy is, also after another release there."""
    with monkeypatch.context() as broken:
        broken.setattr("crowdblend.reading.reports.write.write_report", stop(SystemExit(137)))
        broken.setattr(Staging, "discard", lambda _: None)
        with pytest.raises(SystemExit):
            begin(place, ledger)
    begin(place, ledger, new=True, confirm=lambda _: None)
    same = expected(place, ledger.key(1))
    resume(ledger, 1, force=True)
    assert published(place) == same
    assert not leftovers(place)


def test_a_ledger_that_is_locked_at_the_end_loses_nothing(place: Path, ledger: Ledger) -> None:
    """Everything is written: to resume it takes neither the policy nor the data."""
    stopped = stopped_by(Unavailable("the ledger is locked. Wait."), Ledger, "finish", place, ledger)
    assert "ledger resume 1" in stopped.remedy
    assert not (place / "out").exists()
    (staging,) = stagings_of(place / "out")
    assert staging.path.stat().st_mode & 0o777 == 0o700
    same = expected(place, ledger.key(1))
    (place / "people.csv").unlink()
    (place / "policy.toml").unlink()
    resume(ledger, 1)
    assert published(place) == same
    assert ledger.entry(1).status == "finished"
    assert not leftovers(place)


def test_nothing_appears_before_it_is_recorded_as_finished(
    place: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def watch(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **named: Any) -> Any:
            entries = [entry.status for entry in ledger.entries()]
            seen.append((name, entries, (place / "out").exists()))
            return function(*arguments, **named)

        return watched

    monkeypatch.setattr(Ledger, "finish", watch("finish", Ledger.finish))
    monkeypatch.setattr(steps, "commit", watch("appear", committing.commit))
    begin(place, ledger)
    assert seen == [("finish", ["unfinished"], False), ("appear", ["finished"], False)]


def test_a_release_that_is_finished_and_has_not_appeared_appears_with_the_next_one(place: Path, ledger: Ledger) -> None:
    assert isinstance(stopped_by(SystemExit(1), steps, "commit", place, ledger), SystemExit)
    assert ledger.entry(1).status == "finished"
    assert not (place / "out").exists()
    assert begin(place, ledger).entry == 1
    assert verify_file(place / "out").to_dict()["digest"] == ledger.entry(1).certificate_digest
    assert refusal_of(begin, place, ledger) == (InvalidInput, "output-exists")
    assert len(ledger.entries()) == 1
    assert resume(ledger, 1).folder == place / "out"


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch], ids=["folder", "file"])
def test_force_is_named_only_where_it_helps(make: Callable[[Path], None], place: Path, ledger: Ledger) -> None:
    make(place / "made")
    for force, code in ((False, "output-exists"), (True, "not-a-release")):
        with pytest.raises(InvalidInput, match="is not a release, which alone could be replaced") as refused:
            check_target(place / "made", force=force)
        assert refused.value.code == code
        assert "--force" not in str(refused.value)
    begin(place, ledger)
    with pytest.raises(InvalidInput, match=r"pass force=True to replace the release in it"):
        check_target(place / "out", force=False)
    check_target(place / "out", force=True)


def test_what_waits_for_its_name_replaces_nothing_unasked(place: Path, ledger: Ledger) -> None:
    """Another release took the name meanwhile: the one that waits gets it when the steward says so."""
    assert isinstance(stopped_by(SystemExit(1), steps, "commit", place, ledger), SystemExit)
    (place / "old").rename(place / "out")
    begin(place, ledger, force=True)
    assert verify_file(place / "out").to_dict()["digest"] == ledger.entry(2).certificate_digest
    assert refusal_of(resume, ledger, 1) == (InvalidInput, "output-exists")
    resume(ledger, 1, force=True)
    assert verify_file(place / "out").to_dict()["digest"] == ledger.entry(1).certificate_digest
    assert not leftovers(place)


def test_a_folder_that_is_made_meanwhile_is_left_alone(
    place: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_report(folder: Path, **_: object) -> None:
        (folder / "report.html").write_text("left out")
        (place / "out").mkdir()
        (place / "out" / "notes.txt").write_text("mine")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("crowdblend.reading.reports.write.write_report", write_report)
        with pytest.raises(InvalidInput) as refused:
            begin(place, ledger)
    assert refused.value.code == "output-exists"
    assert (place / "out" / "notes.txt").read_text() == "mine"
    with pytest.raises(InvalidInput):
        resume(ledger, 1)
    (place / "out").rename(place / "mine")
    resume(ledger, 1)
    verify_file(place / "out")


def test_one_release_at_a_time_works_on_a_folder(place: Path, ledger: Ledger) -> None:
    with exclusive_use(place / "out"), pytest.raises(Unavailable) as refused:
        begin(place, ledger)
    assert refused.value.code == "output-busy"
    assert not ledger.entries()
    begin(place, ledger)
    assert not leftovers(place)


def test_a_release_is_resumed_with_its_own_policy_data_and_version_only(
    place: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(stopped_by(KeyboardInterrupt(), write, "write_report", place, ledger), KeyboardInterrupt)
    text, people = (place / "policy.toml").read_text(), (place / "people.csv").read_text()

    def refused(code: str, text: str = text) -> None:
        assert refusal_of(resume, ledger, 1, parse_policy(text, place)) == (InvalidInput, code)
        assert not (place / "out").exists()
        assert not leftovers(place)

    refused("other-policy", text.replace("k = 30", "k = 31"))
    refused("other-policy", text.replace('format = "csv"', 'format = "parquet"'))
    (place / "people.csv").write_text(people + '1000,"a"\n')
    refused("other-data")
    (place / "people.csv").write_text(people)
    with monkeypatch.context() as newer:
        newer.setattr(resuming, "__version__", "9.9")
        refused("other-version")
    assert refusal_of(resume, ledger, 1) == (InvalidInput, "policy-needed")
    resume(ledger, 1, parse_policy(text.replace("[release]", '[release]\nmemory = "2GB"'), place))
    assert ledger.entry(1).status == "finished"


def test_replacing_goes_through_one_exchange(place: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def exchanged(one: Path, other: Path) -> bool:
        calls.append(os.path.lexists(other))
        return system.exchange(one, other)

    monkeypatch.setattr(committing, "exchange", exchanged)
    begin(place, ledger)
    first = published(place)
    begin(place, ledger, force=True)
    assert calls == [True]
    assert published(place) != first
    assert not leftovers(place)


@pytest.mark.parametrize("start", ["resume", "release"])
@pytest.mark.parametrize("killed", ["before the old one moves", "after the old one moved", "before it is removed"])
def test_without_an_exchange_the_next_start_recovers(
    place: Path, ledger: Ledger, killed: str, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems cannot exchange; the old release is never removed before the new one is there."""
    (place / "old").rename(place / "out")
    first = published(place)
    with monkeypatch.context() as broken:
        if killed == "before the old one moves":
            broken.setattr(committing, "exchange", stop(SystemExit(1)))
        elif killed == "after the old one moved":
            broken.setattr(committing, "exchange", lambda *_: False)
            broken.setattr(committing, "rename_to_new", stop(SystemExit(1)))
        else:
            broken.setattr(committing, "exchange", lambda *_: False)
            broken.setattr(committing, "remove", stop(SystemExit(1)))
        with pytest.raises(SystemExit):
            begin(place, ledger, force=True)
    (staging,) = stagings_of(place / "out")
    old = {"before the old one moves": place / "out"}.get(killed, staging.old_release)
    assert {name: (old / name).read_bytes() for name in FILES} == first
    if start == "resume":
        resume(ledger, 1)
    else:
        assert begin(place, ledger).entry == 1
    assert verify_file(place / "out").to_dict()["digest"] == ledger.entry(1).certificate_digest
    assert not leftovers(place)


@pytest.mark.parametrize("recorded", [True, False])
def test_without_an_exchange_a_release_of_any_ledger_gets_its_name(place: Path, recorded: bool) -> None:
    """Between the two renames nothing has the name: whoever starts next gives it to the new release."""
    staging = Staging.make(place / "out", Journal(force=True))
    staging.release.rmdir()
    (place / "old").rename(staging.release)
    digest = str(committing.digest_of(staging.release))
    staging.old_release.mkdir()
    entry = {"entry": 7, "sample": "drawn:of another ledger"} if recorded else {}
    staging.write_journal(Journal(force=True, completion=Completion(digest, "cd" * 32), **entry))
    recover(place / "out", None)
    assert committing.digest_of(place / "out") == digest
    assert not leftovers(place)


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("status", ["unfinished", "finished"])
def test_the_staging_folder_of_another_ledger_is_left_alone(
    status: str, complete: bool, place: Path, ledger: Ledger
) -> None:
    """Entries of two ledgers have the same numbers: only the sample tells to which a staging folder belongs."""
    other = Staging.make(place / "out", Journal(force=True))
    other.release.rmdir()
    (place / "old").rename(other.release)
    digest = str(committing.digest_of(other.release))
    found = Completion(digest, "cd" * 32) if complete else None
    other.write_journal(Journal(force=True, entry=1, sample="drawn:of another ledger", completion=found))
    if status == "unfinished":
        stopped_by(RuntimeError("record 17"), write, "write_report", place, ledger)
        resume(ledger, 1, load_policy(place / "policy.toml"))
    else:
        begin(place, ledger)
    assert verify_file(place / "out").to_dict()["digest"] == ledger.entry(1).certificate_digest != digest
    recover(place / "out", ledger)
    assert committing.digest_of(other.release) == digest
    assert [*stagings_of(place / "out")] == [Staging(other.path, next(stagings_of(place / "out")).journal)]


def test_only_what_was_recorded_gets_the_name(place: Path, ledger: Ledger) -> None:
    """A folder of the same entry that was written before it was resumed, with pages of that day, replaces nothing."""
    begin(place, ledger)
    other = Staging.make(place / "out", Journal(force=True))
    other.release.rmdir()
    (place / "old").rename(other.release)
    written = Completion(str(committing.digest_of(other.release)), "cd" * 32)
    other.write_journal(Journal(force=True, entry=1, sample=ledger.entry(1).spending.sample, completion=written))
    recover(place / "out", ledger)
    assert committing.digest_of(place / "out") == ledger.entry(1).certificate_digest != written.certificate_digest
    assert other.release.is_dir()


def test_nothing_is_removed_unless_the_new_release_is_there(place: Path) -> None:
    (place / "old").rename(place / "out")
    staging = Staging.make(place / "out", Journal(force=True))
    committing.remove(staging, place / "out")
    staging = staging.write_journal(Journal(force=True, completion=Completion("ab" * 32, "cd" * 32)))
    committing.remove(staging, place / "out")
    assert staging.release.is_dir()


def test_the_only_copy_of_an_old_release_is_never_removed(place: Path, ledger: Ledger) -> None:
    """After an exchange the staging folder holds the old release; whoever then loses the new one keeps the old."""
    begin(place, ledger)
    first = published(place)
    staging = Staging.make(place / "out", Journal(force=True))
    staging.release.rmdir()
    (place / "out").rename(staging.release)
    staging.write_journal(Journal(force=True, completion=Completion("ab" * 32, "cd" * 32)))
    begin(place, ledger)
    assert {name: (staging.release / name).read_bytes() for name in FILES} == first


def test_what_was_never_recorded_is_cleared_away(place: Path, ledger: Ledger) -> None:
    Staging.make(place / "out", Journal(force=False))
    (place / ".out.partial-damaged").mkdir()
    begin(place, ledger)
    assert not leftovers(place)


def test_a_new_name_takes_no_other_one_s_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    for _ in ("by the system", "by hand"):
        with pytest.raises(FileExistsError):
            system.rename_to_new(tmp_path / "one", tmp_path / "other")
        monkeypatch.setattr(system, "_system_rename", lambda: None)
    assert not system.exchange(tmp_path / "one", tmp_path / "other")


def test_a_full_disk_is_noticed_before_anything_is_spent(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = list(os.statvfs(place))
    room[4] = 0  # blocks for us
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(room))
    assert refusal_of(lambda: check_target(place / "out", force=False)) == (NoRoom, "disk-full")


@pytest.mark.parametrize(
    ("files", "left", "user", "full"),
    [(1000, 19, 1000, True), (1000, 20, 1000, False), (1000, 19, 0, False), (0, 0, 1000, False)],
)
def test_a_disk_without_room_for_files_is_full_for_all_but_its_owner(
    place: Path, files: int, left: int, user: int, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems count no files at all, and root may use what others may not."""
    room = list(os.statvfs(place))
    room[5], room[7] = files, left  # all files, files left for us
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(room))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    if not full:
        check_target(place / "out", force=False)
        return
    assert refusal_of(lambda: check_target(place / "out", force=False)) == (NoRoom, "disk-full")


def test_the_lock_is_private_and_follows_no_link(tmp_path: Path) -> None:
    lock = tmp_path / ".out.lock"
    with exclusive_use(tmp_path / "out"):
        assert lock.stat().st_mode & 0o777 == 0o600
    assert not lock.exists()
    lock.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unavailable) as refused, exclusive_use(tmp_path / "out"):
        pass
    assert refused.value.code == "write-failed"
    assert not (tmp_path / "elsewhere").exists()


def test_a_lock_that_somebody_removed_stops_nothing(tmp_path: Path) -> None:
    for _ in range(2):  # the next one has the place to itself again
        with exclusive_use(tmp_path / "out"):
            (tmp_path / ".out.lock").unlink()
        assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_taken_in_the_last_moment_is_left_to_whoever_took_it(place: Path, ledger: Ledger) -> None:
    assert stopped_by(FileExistsError(), committing, "rename_to_new", place, ledger).code == "output-exists"
    resume(ledger, 1)
    assert verify_file(place / "out").to_dict()["digest"] == ledger.entry(1).certificate_digest


def test_what_was_recorded_without_its_place_is_not_resumed(place: Path, ledger: Ledger) -> None:
    entry = ledger.begin(spending())
    assert not Path(ledger.entry(entry).spending.folder).is_absolute()
    assert refusal_of(resume, ledger, entry, load_policy(place / "policy.toml")) == (InvalidInput, "cannot-resume")
    assert ledger.entry(entry).status == "unfinished"
