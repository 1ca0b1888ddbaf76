"""Output of commands: results on stdout, the rest on stderr, one JSON object with --json."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import NoReturn

import click

from crowdblend.errors import CrowdblendError, InvalidInput, NoRoom, of_system
from crowdblend.notation import TOML
from crowdblend.trusted.guarantees.parameters import PARAMETERS, check

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
no_figures_option = click.option(
    "--no-figures", is_flag=True, help="Write the report without figures: its tables and sentences alone."
)
force_option = click.option("--force", is_flag=True, help="Overwrite files that exist.")


class Parameter(click.ParamType[float]):
    """An option with the name, the range and the remedy of a parameter of the library."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number that was given, in its range and whole where the parameter is; refuse it otherwise."""
        assert param is not None
        name = str(param.name)
        try:
            number = float(str(value))
        except ValueError:
            check(name, value)
            raise
        if PARAMETERS[name].whole and number.is_integer():
            number = int(number)
        check(name, number)
        return number


def answers(command: Callable[..., None]) -> Callable[..., None]:
    """Add --json to a command that says what it found with `answer`; see `asks_for_json`."""

    @json_option
    @wraps(command)
    def run(*arguments: object, as_json: bool, **options: object) -> None:
        del as_json
        command(*arguments, **options)

    return run


def asks_for_json() -> bool:
    """Return whether the command that runs was called with --json."""
    return bool(click.get_current_context().params.get("as_json"))


def answer(document: Mapping[str, object], *lines: str) -> None:
    """Print one JSON object if it is asked for, else these lines for people."""
    if asks_for_json():
        emit(document)
        return
    for line in lines:
        click.echo(printable_lines(line))


@contextmanager
def machine_limits() -> Iterator[None]:
    """Refuse in a sentence what the machine cannot do: no room, no memory, no permission.

    A closed pipe is left to click, which leaves in silence.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        where = Path(problem.filename).name if isinstance(problem.filename, str) else None
        raise of_system(problem)(
            f"The operating system refused{f' {where!r}' if where else ' a file'}: {problem.strerror or 'no reason'}.",
            remedy="Free some space or correct the permission, and try again.",
            where=where,
            code="system.file",
        ) from problem
    except MemoryError as problem:
        message = "The memory of this machine is used up."
        remedy = "Lower `release.memory`, coarsen the columns, or use a larger machine."
        raise NoRoom(message, remedy=remedy, code="system.memory", where="`release.memory`") from problem


def exit_with_error(error: CrowdblendError, *, as_json: bool) -> NoReturn:
    """Say why not, as policy files and the command line have it, and leave with the exit code that goes with it."""
    error.notation = TOML
    if as_json:
        emit({"error": error.to_dict()})
    click.echo(f"crowdblend: {printable(str(error))}", err=True)
    raise SystemExit(error.exit_code) from error


def printable(text: str) -> str:
    """A text on one line, its control characters written out: names of files and keys cannot steer a terminal."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def printable_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "\n".join(map(printable, text.split("\n")))


def emit(document: Mapping[str, object]) -> None:
    """One JSON object on stdout, in ASCII where stdout cannot take more; no sign that a terminal would act on."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    if not text.isprintable():
        text = "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, allow_nan=False)
    click.echo(text)


def tolerate_narrow_streams() -> None:
    """Write characters that stdout or stderr cannot encode as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def refuse_shared_stdout() -> None:
    """--json and a file on stdout exclude each other."""
    message = "--json prints one object on stdout, which '-' would share."
    raise wrong_use(message, "Name a file, or leave --json out.", "--json", "two-outputs")


ALL = "all"
"""The name that stands for all of them, where a command shows one by its name and lists them without one."""


def wrong_use(message: str, remedy: str, where: str, code: str = "usage") -> InvalidInput:
    """Return the refusal of a command that is called with wrong arguments."""
    return InvalidInput(message, remedy=remedy, where=where, code=f"command.{code}")


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines, columns as wide as their longest entry; a row stays on its line on a narrow terminal."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def write_text(target: str, text: str, *, force: bool) -> None:
    """Write a file that does not exist yet, or stdout for '-'; always as UTF-8."""
    if target == "-":
        click.echo(text.encode(), nl=False)
        return
    path = Path(target)
    if path.exists() and not force:
        raise InvalidInput(
            f"{target} exists.", remedy="Pass --force to overwrite it.", code="output.exists", where="--out"
        )
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "not a file name"
        message = f"{target!r} cannot be written: {why}."
        raise InvalidInput(message, remedy="Name another file.", code="output.not-writable", where="--out") from problem


def append_text(path: Path, text: str) -> None:
    """Add a line to a file in one step, so that two writers do not mix theirs."""
    try:
        with path.open("ab", buffering=0) as log:
            log.write(text.encode())
    except OSError as problem:
        message = f"{str(path)!r} cannot be written: {problem.strerror}."
        raise of_system(problem)(
            message, remedy="Name another file.", code="output.not-writable", where="--export"
        ) from problem


def show(value: object) -> str:
    """Return a number for people: whole numbers whole, others to six digits."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def print_table(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table, numbers for people."""
    for line in align([columns, *([printable(show(cell)) for cell in row] for row in rows)]):
        click.echo(line)
