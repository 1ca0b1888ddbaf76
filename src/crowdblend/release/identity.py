"""Which people and which sample a release is about, for the ledger.

A table that was already drawn is one sample for ever, wherever its file lies: it is known by its content. A sample that
is drawn for one release alone has a name of its own.
"""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path

from crowdblend.errors import InvalidInput
from crowdblend.release.policy import Policy
from crowdblend.release.sections import STDIN

BLOCK = 65_536


def identify(policy: Policy) -> tuple[str, str]:
    """The population's and the sample's name."""
    if policy.data.source == STDIN:
        if policy.sampling.already_drawn:
            raise InvalidInput(
                "a table that was already drawn must be a file, to be known again; got stdin. Save it first."
            )
        return "stdin", f"stdin/{secrets.token_hex(8)}"
    population = fingerprint(policy)
    sample = population if policy.sampling.already_drawn else f"{population}/{secrets.token_hex(8)}"
    return population, sample


def fingerprint(policy: Policy) -> str:
    """A short name for the source's content: sizes, and blocks from the beginning, middle and end of each file."""
    source = Path(policy.data.source)
    files = sorted(file for file in _files(source) if file.is_file())
    state = hashlib.sha256((policy.data.table or "").encode())
    if not files:
        state.update(policy.data.source.encode())
    for file in files:
        size = file.stat().st_size
        state.update(str(size).encode())
        with file.open("rb") as opened:
            for place in (0, max(0, size // 2 - BLOCK // 2), max(0, size - BLOCK)):
                opened.seek(place)
                state.update(opened.read(BLOCK))
    return state.hexdigest()[:16]


def _files(source: Path) -> list[Path]:
    if source.is_dir():
        return list(source.rglob("*"))
    if any(sign in source.name for sign in "*?["):
        return list(source.parent.glob(source.name))
    return [source]
