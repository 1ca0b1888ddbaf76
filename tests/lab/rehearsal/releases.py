"""Policies as tests rehearse, release and audit them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from click.testing import CliRunner, Result
from pyarrow import parquet

from crowdblend.cli.main import cli
from crowdblend.lab.auditing.statistical.subject import hard_sizes
from crowdblend.lab.rehearsal.made_up_people import Population
from crowdblend.lab.rehearsal.subject import subject_of
from crowdblend.policies.load import parse_policy
from crowdblend.publishing.release import release


def subject_of_text(text: str, **request: Any) -> Any:
    return subject_of(parse_policy(text).only, hard_sizes, "policy", **request)


def rehearsal(subject: Any, population: Any) -> Callable[[bytes], dict[str, bytes]]:
    """What the files of a rehearsed release hold, for any key."""
    return lambda key: {name: file.content for name, file in subject.publish(population, key)[0].items()}


def files_of(policy: Any, key: bytes, folder: Path) -> dict[str, bytes]:
    """The whole path: engine, mechanism, outputs, certificate, report."""
    made = release(policy, folder / "out", key=key).folder
    return {file.name: file.read_bytes() for file in made.iterdir() if file.suffix in (".csv", ".parquet")}


def released(policy: Any, names: Sequence[str], population: Population, key: bytes, folder: Path) -> dict[str, bytes]:
    """The files of a release about these people."""
    rows = [crowd.values for crowd in population for _ in range(crowd.size)]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    parquet.write_table(pa.table({"id": range(1, len(rows) + 1), **columns}), folder / "people.parquet")
    return files_of(policy.replace(source=str(folder / "people.parquet")), key, folder)


def audited(text: str, folder: Path, *settings: str) -> Result:
    path = folder / "policy.toml"
    path.write_text(text)
    return CliRunner().invoke(cli, ["audit", str(path), "--people", "20", "--workers", "1", "--json", *settings])
