"""The options that say which engine reads the data, and where it runs."""

from __future__ import annotations

from collections.abc import Callable

import click

from crowdblend.engines.choice import ENGINES

_OPTIONS = (
    click.option(
        "--engine", type=click.Choice(ENGINES), default="duckdb", show_default=True, help="What reads the data."
    ),
    click.option("--master", metavar="URL", help="With --engine spark: the cluster, such as yarn or sc://host."),
    click.option("--conf", multiple=True, metavar="NAME=VALUE", help="With --engine spark: a setting of the session."),
)


def engine_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add --engine, --master and --conf to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
