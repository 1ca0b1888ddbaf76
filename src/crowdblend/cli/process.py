"""The command line in a process of its own.

pyarrow loads pandas, when it is installed, to recognize pandas objects that it might be given. That takes a third of a
second, and a command is given files only. So in this process pandas counts as not installed. Inside somebody else's
Python, `cli.main.main` is called instead and nothing is hidden.

A command makes hundreds of thousands of small objects while it loads, and keeps them: looking for rings of garbage
among them every few hundred objects takes a tenth of a second and finds none. So it is looked for less often.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

# New objects before garbage is looked for.
_NEW_OBJECTS = 100_000


class _WithoutPandas:
    """Answers the import of pandas as if it were not installed."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("the command line does without pandas", name=fullname)


def run() -> None:
    """Entry point of the installed command and of `python -m crowdblend`."""
    gc.set_threshold(_NEW_OBJECTS)
    sys.meta_path.insert(0, _WithoutPandas())
    from crowdblend.cli.main import main  # noqa: PLC0415  after pandas is out of the way

    main()
