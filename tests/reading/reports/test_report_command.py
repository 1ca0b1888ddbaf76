"""`crowdblend report` keeps the contract of the command line."""

import json
import subprocess
import sys

import pyarrow as pa

from tests.reading.reports import releases
from tests.reading.reports.releases import TABLE, release


def table() -> pa.Table:
    """A table whose estimates are blank, which claims nothing."""
    blank = {"estimate": pa.nulls(4, pa.float64()), "low": pa.nulls(4, pa.int64()), "high": pa.nulls(4, pa.int64())}
    return releases.table(**TABLE, **blank)


def test_it_writes_the_page_and_says_where(tmp_path, run):
    folder = release(tmp_path, table())
    code, out, err = run(folder)
    assert (code, out, err) == (0, f"report: {folder / 'report.html'}\n", "")
    page = (folder / "report.html").read_bytes()
    code, out, err = run(folder)
    assert code == 2
    assert "exists" in err
    assert run(folder, "--force")[0] == 0
    assert (folder / "report.html").read_bytes() == page


def test_json_and_another_place(tmp_path, run):
    folder, target = release(tmp_path / "r", table()), tmp_path / "page.html"
    code, out, err = run(folder, "--out", target, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"report": str(target), "verified": True}
    assert target.exists()
    assert not (folder / "report.html").exists()


def test_stdout(tmp_path, run):
    folder = release(tmp_path, table())
    code, out, _ = run(folder, "--out", "-")
    assert code == 0
    assert out.startswith("<!doctype html>")
    assert run(folder, "--out", "-", "--json")[0] == 2


def test_what_does_not_verify_is_refused(tmp_path, run):
    folder = release(tmp_path, table())
    (folder / "data.parquet").write_bytes(b"other")
    code, out, err = run(folder, "--json")
    assert code == 1
    assert json.loads(out)["error"]["code"] == "file-edited"
    assert len(err.strip().splitlines()) == 1
    assert not (folder / "report.html").exists()


def test_the_command_s_own_process_does_without_pandas(tmp_path):
    """pyarrow would load it for objects that a command is never given."""
    folder = release(tmp_path, table())
    command = [sys.executable, "-X", "importtime", "-m", "crowdblend", "report", str(folder), "--out", "-"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    loaded = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}
    assert "pyarrow" in loaded
    assert not {"pandas.core", "scipy", "duckdb"} & loaded
