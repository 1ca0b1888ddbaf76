"""Sources in every notation are read as pandas reads them; what damaged ones are is in test_mutated_sources.py."""

from pathlib import Path

import pytest

from tests.cases import some_daily
from tests.engines.generated_sources import counted, generate


@pytest.mark.parametrize("seed", some_daily(range(120), 6))
def test_as_pandas_reads_it(seed: int, tmp_path: Path) -> None:
    source = generate(seed, tmp_path)
    assert counted(source) == source.expected, source.what
