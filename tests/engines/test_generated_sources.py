"""Sources in every notation are read as pandas reads them; what damaged ones are is in test_mutated_sources.py."""

from pathlib import Path

import pytest

from tests.engines.generated_sources import counted, generate


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 120))])
def test_as_pandas_reads_it(seed: int, tmp_path: Path) -> None:
    source = generate(seed, tmp_path)
    assert counted(source) == source.expected, source.what
