"""No file that somebody names can hang or fill the machine: pipes, devices and files without end are refused."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError
from crowdblend.ledger.chain import load_heads
from crowdblend.methods.recoding.hierarchies import read_hierarchy
from crowdblend.policies.code_book import read_code_book
from crowdblend.policies.strata import rates_of
from crowdblend.trusted.machine.regular_files import open_regular, read_regular
from crowdblend.trusted.signatures.files import check_file, load_key, read_signers
from tests.api.survey import table
from tests.commands import crowdblend


def command(*arguments: object) -> None:
    done = crowdblend(*arguments)
    if done.returncode:
        raise CrowdblendError(done.stderr)


READERS: dict[str, Callable[[Path], object]] = {
    "policy": cb.load_policy,
    "hierarchy": read_hierarchy,
    "values of a hierarchy": lambda path: command("hierarchy", "prefixes", path, "--keep", "1"),
    "rates": lambda path: rates_of(str(path)),
    "code book": read_code_book,
    "signers": read_signers,
    "key": load_key,
    "signed file": lambda path: check_file(path, "ssh-ed25519 AAAA", "purpose"),
    "head": load_heads,
    "certificate": cb.verify,
    "ledger": cb.Ledger.open,
    "header": lambda path: command("init", path),
    "source": lambda path: cb.release(path, table().replace(source_format="csv"), ledger=None),
    "csv.gz": lambda path: cb.release(path, table(), ledger=None),
    "parquet": lambda path: cb.release(path, table(), ledger=None),
    "sqlite": lambda path: cb.release(path, table().replace(table="people"), ledger=None),
    "duckdb": lambda path: cb.release(path, table().replace(table="people"), ledger=None),
}


@pytest.fixture(autouse=True)
def _within_seconds() -> Iterator[None]:
    """Whatever waits for a pipe is stopped."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("reader", READERS)
def test_pipes_and_devices_are_refused(reader: str, tmp_path: Path) -> None:
    ending = reader if reader in ("csv.gz", "parquet", "sqlite", "duckdb") else "csv"
    pipe, device = tmp_path / f"pipe.{ending}", tmp_path / f"device.{ending}"
    os.mkfifo(pipe)
    mode = pipe.stat().st_mode
    device.symlink_to("/dev/zero")
    # A ledger is closed to others when it is opened, which nobody should try with a device.
    for path in (pipe,) if reader == "ledger" else (pipe, device):
        with pytest.raises(CrowdblendError):
            READERS[reader](path)
    assert pipe.stat().st_mode == mode
    for path in (pipe, device, tmp_path):
        with pytest.raises(OSError, match="not a regular file"):
            open_regular(path)


def test_a_file_may_have_so_many_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_regular(path, 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_regular(path, 4)
    for name in ("policy", "rates", "code book", "signers", "key", "head", "certificate"):
        with path.open("wb") as file:
            file.truncate(1 << 40)
        with pytest.raises(CrowdblendError):
            READERS[name](path)
