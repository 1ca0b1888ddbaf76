import pytest

from tests.engines.engines import Counting, counting


@pytest.fixture(params=["duckdb", "memory"])
def count(request: pytest.FixtureRequest) -> Counting:
    """Counts classes, once with each engine."""
    return counting(request.param)
