"""What tests of reports share."""

import pytest

from tests.commands import Finished, crowdblend


@pytest.fixture
def run():
    """`crowdblend report` in this process: exit code, stdout and stderr."""

    def call(*arguments: object) -> Finished:
        return crowdblend("report", *arguments)

    return call
