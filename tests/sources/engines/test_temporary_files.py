"""Temporary files lie where TMPDIR says, or nowhere, and the room that they may take is stated."""

import shutil
import tempfile
from pathlib import Path

import pytest

from crowdblend.policies.resources import Resources
from crowdblend.sources.engines.duckdb.database import database
from crowdblend.sources.engines.temporary_files import private_folder, temporary_room
from tests.refusals import refuses


def test_a_folder_that_is_missing_is_refused_where_python_would_take_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    with refuses("system.temporary", "TMPDIR"):
        temporary_room()
    with refuses("system.temporary", "TMPDIR"), private_folder():
        pass


def test_the_folder_and_its_room_are_those_of_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    room = temporary_room()
    assert room.folder == tmp_path
    assert 0 < room.most_bytes < shutil.disk_usage(tmp_path).total
    assert f"in {tmp_path} (TMPDIR)" in room.words()
    with private_folder() as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
        with database(Resources(), folder) as connection:
            (found,) = connection.sql("SELECT current_setting('temp_directory')").fetchall()
    assert found == (str(folder),)
