"""A fingerprint of the code that draws, recodes and hashes: driver and executors must run the same.

Another version may throw another coin under the same key, so that one draw would have two outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

# The folders that decide who is drawn, which class a row is in, and how ids are hashed.
_FOLDERS = (
    "methods/designs",
    "methods/mechanisms",
    "methods/recoding",
    "policies",
    "sources/engines",
    "trusted/randomness",
)


@cache
def fingerprint() -> str:
    """Return the digest of these folders, whatever archive or folder the package lies in."""
    package, digest = files("crowdblend"), sha256()
    for folder in _FOLDERS:
        for name, content in _sources(package / folder, folder):
            digest.update(name.encode() + b"\0" + sha256(content.replace(b"\r\n", b"\n")).digest())
    return digest.hexdigest()[:32]


def _sources(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    """Yield every file of Python below a folder, in order of name."""
    for each in sorted(folder.iterdir(), key=lambda one: one.name):
        if each.is_dir():
            yield from _sources(each, f"{path}/{each.name}")
        elif each.name.endswith(".py"):
            yield f"{path}/{each.name}", each.read_bytes()
