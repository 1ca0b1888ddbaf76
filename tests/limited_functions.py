"""Functions that tests/test_limited_process.py calls in other processes."""

import sys
import time
from dataclasses import dataclass

import pyarrow as pa

from crowdblend.errors import DoesNotVerify, Infeasible


@dataclass(frozen=True)
class Pair:
    name: str
    numbers: tuple[int, ...]


def pair(name: str, numbers: list[int]) -> Pair:
    sys.stdout.write("to be read by nobody\n")
    return Pair(name, tuple(numbers))


def refuse(where: str) -> None:
    raise DoesNotVerify("It was edited.", remedy="Ask for the original.", where=where, code="file-edited")


class OfItsOwn(Infeasible):
    pass


def refuse_in_a_way_of_its_own() -> None:
    raise OfItsOwn("Nothing fits. Ask for less.")


def make_bytes(size: int) -> int:
    return len(bytearray(size))


def make_arrow_memory(size: int) -> int:
    return int(pa.allocate_buffer(size).size)


def sleep() -> None:
    time.sleep(60)


def work() -> None:
    while True:
        pass


def fail_with_a_record() -> None:
    raise KeyError("a record")


def end(code: int) -> None:
    sys.stdout.flush()
    sys.exit(code)


def long_text(size: int) -> str:
    return "x" * size
