"""The command line in a process of its own.

pyarrow loads pandas, when it is installed, to recognize pandas objects that it might be given. That takes a third of a
second, and a command is given files only. So in this process pandas counts as not installed. Inside somebody else's
Python, `cli.main.main` is called instead and nothing is hidden.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import Any


class _WithoutPandas(MetaPathFinder):
    """Answers the import of pandas as if it were not installed."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("the command line does without pandas", name=fullname)


def run() -> None:
    """Entry point of the installed command and of `python -m crowdblend`."""
    sys.meta_path.insert(0, _WithoutPandas())
    from crowdblend.cli.main import main  # noqa: PLC0415  after pandas is out of the way

    main()
