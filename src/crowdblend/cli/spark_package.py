"""`crowdblend spark-package`."""

from __future__ import annotations

from pathlib import Path

import click

from crowdblend.cli.output import answer, answers
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.sources.engines.spark import package


@click.command("spark-package", epilog="Example: crowdblend spark-package shipped")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--no-dependencies", is_flag=True, help="Leave out what the executors have installed already.")
@answers
def command(out: Path, *, no_dependencies: bool) -> None:
    """Write what spark-submit ships to a cluster: an archive of crowdblend with what it needs, and the application.

    The executors need the same version of Python, and the same system and processor where dependencies are shipped.
    """
    written = package.write_package(out, dependencies=not no_dependencies)
    answer({"files": [str(file) for file in written]}, *(f"wrote {file}" for file in written))
