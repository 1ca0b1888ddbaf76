"""Stewards and readers work in a Python that lacks what Windows lacks; what differs between systems is in one file."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import crowdblend as cb
from tests.api.survey import KEY, survey, table
from tests.windows_like import ROOT, environment, lacking

SOURCE = ROOT / "src" / "crowdblend"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python as on Windows."""
    command, given = [sys.executable, *arguments], environment(folder)
    return subprocess.run(
        command, cwd=folder, env=given, capture_output=True, text=True, encoding="cp1252", timeout=500, check=False
    )


def test_stewards_readers_and_the_studio_work(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "tests.windows_like.jobs", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("all of it")
    cb.release(survey(), table(), ledger=None, key=KEY, out=tmp_path / "here")
    here, there = (contents(tmp_path / name) for name in ("here", "same"))
    assert here == there, "every system publishes the same bytes"


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.slow
def test_the_demo_works(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "crowdblend", "demo", "--out", "town")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("verified") == 3


def test_the_simulation_takes_away_what_windows_lacks(tmp_path: Path) -> None:
    modules, attributes = lacking()
    assert {"fcntl", "grp", "pwd", "resource", "termios"} <= modules
    assert {"O_NONBLOCK", "O_NOFOLLOW", "O_DIRECTORY", "fork", "getuid", "killpg", "statvfs"} <= {*attributes["os"]}
    assert {"SIGHUP", "SIGKILL", "alarm"} <= {*attributes["signal"]}
    for wrong, words in {
        "import fcntl": "No module named 'fcntl'",
        "import os; os.fork()": "has no attribute 'fork'",
        "import signal; signal.SIGHUP": "has no attribute 'SIGHUP'",
        "from pathlib import Path; file = open('x', 'wb'); Path('x').unlink()": "The file is open",
        "from pathlib import Path; Path('nul.csv').write_bytes(b'')": "Invalid argument",
    }.items():
        done = run(tmp_path, "-c", wrong)
        assert done.returncode == 1
        assert words in done.stderr
    run(tmp_path, "-c", "open('x.txt', 'w', encoding='utf-8').write('line\\n')")
    assert (tmp_path / "x.txt").read_bytes() == b"line\r\n"


def test_what_differs_between_systems_is_in_one_file() -> None:
    """Only system.py names what Windows lacks, and only it asks for the name of the system."""
    modules, attributes = lacking()
    absent = {f"{module}.{name}" for module, names in attributes.items() for name in names}
    absent |= {"sys.platform", "os.name", "platform.system"}
    found = {
        f"{file.relative_to(SOURCE).as_posix()}:{line} {name}"
        for file in SOURCE.rglob("*.py")
        for line, name in mentions(ast.parse(file.read_text(encoding="utf-8")))
        if (name in absent or name in modules) and file.name != "system.py"
    }
    assert found == set()


def mentions(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the modules that a file imports, and the attributes that it names of modules, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, one.name) for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{one.name}") for one in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.lineno, f"{node.value.id}.{node.attr}"


def test_text_is_written_with_one_end_of_lines() -> None:
    """Else Windows would write other bytes, whose hashes are in no certificate of other systems."""
    wrong, seen = [], 0
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            named = {one.arg for one in node.keywords}
            method = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            modes = [one.value for one in node.args[:2] if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            writes = method in ("open", "fdopen") and any(set(mode) & set("wxa") and "b" not in mode for mode in modes)
            if (method == "write_text" and "encoding" in named) or (writes and "encoding" in named):
                seen += 1
                if "newline" not in named:
                    wrong.append(f"{file.relative_to(SOURCE).as_posix()}:{node.lineno}")
    assert seen > 8
    assert wrong == []


@pytest.mark.slow
def test_types_hold_on_windows(tmp_path: Path) -> None:
    """Nothing is called that the stubs of the standard library do not have for Windows."""
    command = [sys.executable, "-m", "mypy", "--platform", "win32", "--cache-dir", str(tmp_path), "src/crowdblend"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ})
    assert done.returncode == 0, done.stdout
