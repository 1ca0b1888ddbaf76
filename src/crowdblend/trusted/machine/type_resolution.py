"""Types of declared values, resolved by one thread at a time before msgspec reads into them.

    msgspec.convert(document, resolve(TableFacts))

msgspec resolves the annotations of a class when something is first read into it, and keeps them on the class. Two
threads that do so at the same time end the interpreter: one reads what the other has not filled in yet. Here a class
is resolved under a lock, with all classes that it names; afterwards threads read into it at the same time.

Resolving may import modules. So nothing is resolved while a module is imported: two threads would wait for each other.
"""

from __future__ import annotations

from _thread import allocate_lock  # not `threading`, which may be a file of the working folder
from typing import TypeVar

import msgspec

Kind = TypeVar("Kind")

_ONE_THREAD = allocate_lock()
_KNOWN: set[object] = set()


def resolve(kind: Kind) -> Kind:
    """Return a type, once msgspec knows what it consists of."""
    if kind not in _KNOWN:
        with _ONE_THREAD:
            msgspec.json.Decoder(kind)
            _KNOWN.add(kind)
    return kind
