"""Generated sources are read as pandas reads them, or refused where their bytes are damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.generated_sources import generate, outcome


@pytest.mark.filterwarnings("ignore")  # those of pandas about damaged files
@pytest.mark.parametrize("seed", range(40))
def test_as_pandas_reads_it(seed: int, tmp_path: Path) -> None:
    source = generate(seed, tmp_path)
    found = outcome(source)
    assert found == "same" or (found.startswith("data.") and (source.damaged or "\\r" in source.what)), source.what
