"""Plans as tests look into them: of whichever class a kind has, with all that is its own."""

from typing import Any

from crowdblend.kinds import method_of
from crowdblend.policies.policy import Policy


def plan(policy: Any) -> Any:
    """The plan of one publication, by the method that its kind picks."""
    return method_of(policy.only if isinstance(policy, Policy) else policy).plan()
