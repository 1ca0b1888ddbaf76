"""How commands speak: results on stdout, everything else on stderr, one JSON object when asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.guarantees.parameters import PARAMETERS, check

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
force_option = click.option("--force", is_flag=True, help="Overwrite files that exist.")


class Parameter(click.ParamType[Any]):
    """An option with the name, the range and the remedy of a parameter of the library."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        assert param is not None
        name = str(param.name)
        try:
            number = float(value)
            if PARAMETERS[name].whole and number.is_integer():
                number = int(number)
        except (ValueError, OverflowError):
            number = value
        check(name, number)
        return number


def speaks(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn what a command refuses into one sentence on stderr and the exit code of the contract."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except CrowdblendError as refused:
            complain(refused, as_json=bool(options.get("as_json")))

    return run


def complain(refused: CrowdblendError, *, as_json: bool) -> None:
    """Say why not, and leave with the exit code that goes with it."""
    if as_json:
        emit({"error": str(refused), "kind": type(refused).__name__})
    click.echo(f"crowdblend: {refused}", err=True)
    sys.exit(refused.exit_code)


def emit(document: dict[str, Any]) -> None:
    """One JSON object on stdout."""
    click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False))


def write_text(target: str, text: str, *, force: bool) -> None:
    """Write a file that does not exist yet, or stdout for '-'."""
    if target == "-":
        click.echo(text, nl=False)
        return
    path = Path(target)
    if path.exists() and not force:
        raise InvalidInput(f"the output must not exist yet, got {target}; pass --force to overwrite it.")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InvalidInput(f"the output must be a writable file, got {target}: {problem.strerror}.") from problem


def show(value: Any) -> str:
    """A number for people: whole numbers whole, others to six digits."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def print_table(title: str, columns: list[str], rows: list[list[Any]]) -> None:
    """A table on stdout, as wide as the terminal allows."""
    from rich.console import Console  # noqa: PLC0415  loaded only to draw
    from rich.table import Table  # noqa: PLC0415

    table = Table(title=title or None, title_justify="left")
    for column in columns:
        table.add_column(column, justify="right", overflow="fold")
    for row in rows:
        table.add_row(*map(show, row))
    Console(soft_wrap=False).print(table)
