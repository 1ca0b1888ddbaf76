"""Every broken mechanism is caught, and the honest one beside it is not."""

from tests.cases import for_each
from tests.lab.auditing.broken_mechanisms import BROKEN_MECHANISMS

# Each of the exact ones is certain; each of those that are run is a false alarm with probability 1e-6 at most.
ASKED_FOR = """
off-by-one empty-cells seed-reused bins-from-data row-order same-sample-choice rate-understated float-laplace
noisy-threshold two-tables best-of-drawn star-rows forked-noise two-rows min-max-recoding delta-rounded-down
fixed-size degree-unchecked
"""


def test_the_classic_mistakes_are_there() -> None:
    assert set(BROKEN_MECHANISMS) >= set(ASKED_FOR.split())


@for_each("mechanism", BROKEN_MECHANISMS.values(), daily=6)
def test_the_broken_one_is_caught_and_the_honest_one_is_not(mechanism) -> None:
    found = mechanism.broken.finding()
    assert found is not None
    assert len(found.describe().splitlines()) >= 5
    assert mechanism.honest.finding() is None
