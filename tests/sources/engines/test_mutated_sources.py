"""Whatever is accepted of odd files has the class counts that pandas or pyarrow reads; all else is one sentence."""

import io
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from crowdblend.errors import InvalidInput
from crowdblend.methods.designs.draw import Everybody
from crowdblend.sources.engines.choice import count_classes
from tests.cases import seeds
from tests.sources.engines.mutations import write_csv, write_parquet
from tests.sources.engines.test_engine import counted, policy

CSV = {
    "sex": '{ values = ["F", "M", "x,y"], other = "other", missing = "none" }',
    "zip": '{ prefix = 2, missing = "none" }',
}
PARQUET = {
    "sex": '{ values = ["F", "M", "1", "true"], other = "other", missing = "none" }',
    "age": '{ from = 0, to = 100, width = 10, other = "other", missing = "none" }',
}


def one_csv(folder: Path, seed: int) -> bool:
    """Whether the files of a seed are accepted; they are read as pandas reads them."""
    draw = random.Random(seed)
    ending, delimiter = write_csv(folder, draw)
    mark = {"\t": "\\t"}.get(delimiter, delimiter)
    made = policy(folder, CSV, f"*{ending}", f'format = "csv"\ndelimiter = "{mark}"')
    found = accepted(lambda: counted(count_classes(made, Everybody()).classes))
    if found is None:
        return False
    frame = pd.concat([by_pandas(file, delimiter) for file in sorted(folder.iterdir())])
    assert list(frame.columns[:3]) == ["id", "sex", "zip"]
    labels = ([column.recoding.label(value) for value in frame[column.name]] for column in made.columns)
    assert found == Counter(zip(*labels, strict=True))
    return True


def by_pandas(file: Path, delimiter: str) -> pd.DataFrame:
    with pa.input_stream(str(file), "detect") as stream:
        content = io.BytesIO(stream.read())
    return pd.read_csv(content, dtype=str, keep_default_na=False, sep=delimiter, encoding="utf-8-sig", index_col=False)


def one_parquet(folder: Path, seed: int) -> bool:
    """Whether the files of a seed are accepted; they are read as pyarrow reads them, file by file."""
    write_parquet(folder, random.Random(seed))
    made = policy(folder, PARQUET, ".", 'format = "parquet"')
    found = accepted(lambda: counted(count_classes(made, Everybody()).classes))
    if found is None:
        return False
    columns: dict[str, list] = {"id": [], "sex": [], "age": []}
    for file in sorted(folder.rglob("*.parquet")):
        table = parquet.ParquetFile(file).read(columns=list(columns))
        for name, values in columns.items():
            values.extend(table.column(name).to_pylist())
    labels = ([column.recoding.label(text_of(value)) for value in columns[column.name]] for column in made.columns)
    assert found == Counter(zip(*labels, strict=True))
    return True


def text_of(value: object) -> str | None:
    """A value as the text that it is shown as; a recoding is defined on that."""
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def accepted(count: Callable[[], dict]) -> dict | None:
    """The counts, or None for a refusal of one or two clean sentences."""
    try:
        return count()
    except InvalidInput as error:
        said = str(error)
    assert re.fullmatch(r"[^\n]+\. [A-Z][^\n]+\.", said), said
    return None


ONE = {"csv": one_csv, "parquet": one_parquet}


@seeds(50, 1_050, 1_000)
@pytest.mark.parametrize("kind", ONE)
def test_mutated_sources(tmp_path: Path, kind: str, seeds: range) -> None:
    """All seeds; a good part of the files is accepted and a good part is not, so that both are tested."""
    taken = 0
    for seed in seeds:
        here = tmp_path / str(seed)
        here.mkdir()
        taken += ONE[kind](here, seed)
    assert 0.2 * len(seeds) < taken < 0.9 * len(seeds), taken
