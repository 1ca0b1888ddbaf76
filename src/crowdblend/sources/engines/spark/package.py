"""The files that a cluster needs to run crowdblend: an archive of the package with what it needs, and the application.

crowdblend-spark.tar.gz   for --archives: executors unpack it, so that they draw by the driver's code
submit_crowdblend.py      the application: spark-submit takes a file that ends in .py
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from importlib import metadata
from importlib.resources import as_file, files
from pathlib import Path

from crowdblend.errors import InvalidInput

ARCHIVE, SUBMIT = "crowdblend-spark.tar.gz", "submit_crowdblend.py"
# Another name than that of the package, which it would hide.
_APPLICATION = '''"""The application of spark-submit: the command crowdblend with the arguments that follow."""

from crowdblend.cli.process import run

if __name__ == "__main__":
    run()
'''
# What PySpark's workers need to hand rows to a function.
_OF_WORKERS = "pandas"


def write_package(folder: Path, *, dependencies: bool = True) -> list[Path]:
    """Write the files into a new folder, and return them."""
    try:
        folder.mkdir()
    except FileExistsError:
        message = f"{folder} exists."
        raise InvalidInput(message, remedy="Name another folder.", where="OUT", code="output.exists") from None
    written = [folder / ARCHIVE, folder / SUBMIT]
    with tarfile.open(written[0], "w:gz", compresslevel=1) as archive:
        with as_file(files("crowdblend")) as package:
            for file in sorted(package.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    archive.add(file, str(Path("crowdblend") / file.relative_to(package)))
        for one in _dependencies(["crowdblend"], {_OF_WORKERS}) if dependencies else ():
            for part in one.files or ():
                place = Path(str(part.locate()))
                if ".." not in part.parts and "__pycache__" not in part.parts and place.is_file():
                    archive.add(place, str(part))
    written[1].write_text(_APPLICATION, encoding="utf-8", newline="\n")
    return written


def _dependencies(of: list[str], wanted: set[str]) -> Iterator[metadata.Distribution]:
    """Yield the installed packages that these need, and those that they need in turn, extras apart."""
    known: set[str] = set()
    while of or wanted:
        for line in metadata.requires(of.pop()) or () if of else ():
            if "extra ==" not in line:
                wanted.add(re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0].lower())
        for name in sorted(wanted - known):
            try:
                yield metadata.distribution(name)
            except metadata.PackageNotFoundError:  # of another system or version of Python
                continue
            of.append(name)
        known |= wanted
        wanted = set()
