"""A command ends its process at once, and yet as Python would: handlers run, streams are written, the code is kept."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

_AUDIT = ["audit", "--mechanism", "ours:claim"]
_LEAVE = "import atexit, sys, threading, time\nfrom crowdblend.cli.process import leave\n"


# With streams that wait, as they do where nobody has asked otherwise.
_BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def ended(code: str, stdout: IO[str] | int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _LEAVE + code]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=_BUFFERED, check=False)


@pytest.mark.parametrize(("given", "code"), [("", 0), ("2", 2)])
def test_what_was_registered_and_written_comes_out(given: str, code: int) -> None:
    done = ended(
        "class Kept:\n    def __del__(self): print('taken apart')\nkept = Kept()\n"
        "atexit.register(print, 'registered')\nprint('written', end='')\n"
        f"sys.stderr.write('said')\nleave(SystemExit({given}))"
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, "writtenregistered\n", "said")


def test_a_thread_that_works_is_waited_for() -> None:
    done = ended(
        "def work():\n    time.sleep(0.1)\n    print('done')\n"
        "threading.Thread(target=work).start()\nleave(SystemExit(3))"
    )
    assert (done.returncode, done.stdout) == (3, "done\n")


def test_a_stream_that_cannot_be_written_is_told() -> None:
    """Python itself writes it out once more, and ends with 120 when that fails."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = ended("print('lost')\nleave(SystemExit(0))", full)
    assert done.returncode == 120
    assert "No space left" in done.stderr


def test_an_error_that_nobody_foresaw_shows_no_record() -> None:
    done = ended("from crowdblend.cli import main, process\nmain.main = lambda: int('Alice')\nprocess.run()")
    assert (done.returncode, done.stdout) == (70, "")
    said = r"crowdblend: Internal error \(ValueError\). Please report it: <string> \d+, process.py \d+.\n"
    assert re.fullmatch(said, done.stderr)


def test_a_command_without_streams() -> None:
    command = f"{shlex.quote(sys.executable)} -m crowdblend rules suppression.exact"
    assert subprocess.run(f"{command} >&- 2>&-", shell=True, check=False).returncode == 0


def test_files_of_the_working_folder_are_not_imported(tmp_path: Path) -> None:
    for name in ("numpy", "msgspec", "click", "threading"):
        (tmp_path / f"{name}.py").write_text('raise SystemExit("imported")\n', encoding="utf-8")
    (tmp_path / "ours.py").write_text("import numpy\nclaim = numpy.array\n", encoding="utf-8")
    for arguments, said in ((["plan", "--rate", "0.1", "--k", "20", "--epsilon", "1"], ""), (_AUDIT, "is no claim")):
        command = [sys.executable, "-m", "crowdblend", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert "imported" not in done.stderr
        assert said in done.stderr
