"""`crowdblend hierarchy`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps

import click

from crowdblend.cli.output import answer, answers, asks_for_json, force_option, refuse_shared_stdout, write_text
from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.hierarchies import (
    LARGEST_FILE,
    Lines,
    hierarchy_text,
    interval_hierarchy,
    order_hierarchy,
    prefix_hierarchy,
)
from crowdblend.trusted.machine.regular_files import read_regular


def _writes(make: Callable[..., Lines]) -> Callable[..., None]:
    """Turn a function that makes the lines of a hierarchy into a command that writes them."""

    @click.option("--out", metavar="FILE", default="-", show_default=True, help="Where to write it; '-' for stdout.")
    @force_option
    @answers
    @wraps(make)
    def run(*, out: str, force: bool, **arguments: object) -> None:
        if asks_for_json() and out == "-":
            refuse_shared_stdout()
        lines = make(**arguments)
        write_text(out, hierarchy_text(lines), force=force)
        said = f"wrote {out}: {len(lines)} values at {len(lines[0])} levels, 0 to {len(lines[0]) - 1}"
        answer({"file": out, "values": len(lines), "levels": len(lines[0])}, *([] if out == "-" else [said]))

    return run


@click.group("hierarchy", epilog="Example: crowdblend hierarchy intervals --from 0 --to 100 --width 5 --width 20")
def command() -> None:
    """Make a hierarchy file for a column, in the form that ARX reads too.

    Each line is a value and its group at every level. Use it with { hierarchy = "FILE", level = 1 } in a policy.
    """


@command.command("intervals")
@click.option("--from", "start", type=int, required=True, help="The first number.")
@click.option("--to", "stop", type=int, required=True, help="The number after the last.")
@click.option("--width", "widths", type=int, multiple=True, required=True, help="A width for each level, finest first.")
@_writes
def intervals(start: int, stop: int, widths: tuple[int, ...]) -> Lines:
    """Whole numbers in intervals, wider from level to level."""
    return interval_hierarchy(start, stop, widths)


@command.command("prefixes")
@click.argument("values", metavar="VALUES")
@click.option("--keep", type=int, multiple=True, required=True, help="Characters kept at each level, most first.")
@_writes
def prefixes(values: str, keep: tuple[int, ...]) -> Lines:
    """Codes cut to their first characters. VALUES is a file with one code a line, from a code book, not the data."""
    return prefix_hierarchy(_listed_values(values), keep)


@command.command("order")
@click.argument("values", metavar="VALUES")
@click.option("--size", "sizes", type=int, multiple=True, required=True, help="Neighbours in a group, at each level.")
@_writes
def order(values: str, sizes: tuple[int, ...]) -> Lines:
    """Values in groups of neighbours. VALUES is a file with one value a line, in order, from a code book."""
    return order_hierarchy(_listed_values(values), sizes)


def _listed_values(file: str) -> list[str]:
    """Return the values of a file, one a line; '-' is stdin."""
    try:
        content = sys.stdin.buffer.read() if file == "-" else read_regular(file, LARGEST_FILE)
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or "it is not UTF-8 text"
        raise InvalidInput(
            f"The list of values cannot be read: {why}.", remedy="Check it.", where="VALUES", code="hierarchy.file"
        ) from None
    return [line.strip() for line in text.splitlines() if line.strip()]
