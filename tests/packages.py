"""A package of kinds that another distribution installs, written for a test."""

from collections.abc import Mapping
from pathlib import Path


def install_package(folder: Path, name: str, parts: Mapping[str, str], kinds: Mapping[str, str]) -> None:
    """Write a package with these modules, and the entry points of its kinds, into a folder of packages."""
    package, metadata = folder / name, folder / f"{name}-1.0.dist-info"
    package.mkdir(parents=True)
    metadata.mkdir()
    for part, text in parts.items():
        (package / f"{part}.py").write_text(text)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    points = "".join(f"{kind} = {name}:{value}\n" for kind, value in kinds.items())
    (metadata / "entry_points.txt").write_text(f"[crowdblend.kinds]\n{points}")
