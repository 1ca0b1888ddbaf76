"""What an audit concludes, with the probability of being wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crowdblend.guarantees import Differential
from crowdblend.guarantees.wording import at_least, at_most, exactly

_MOST_OUTCOMES = 6


@dataclass(frozen=True)
class Verdict:
    """The largest ε that the runs prove, except with probability `error`; a finding when it exceeds the guarantee."""

    subject: str
    guarantee: Differential
    epsilon_lower: float
    error: float
    runs: int
    pair: str
    view: str
    likelier: str
    outcomes: tuple[str, ...]
    likely: tuple[int, int]
    unlikely: tuple[int, int]

    @property
    def finding(self) -> bool:
        """Whether the guarantee is broken."""
        return self.epsilon_lower > self.guarantee.epsilon

    def describe(self) -> str:
        """The verdict for people to read."""
        guarantee = f"epsilon {exactly(self.guarantee.epsilon)}, delta {at_most(self.guarantee.delta)}"
        wrong = exactly(self.error)
        conclusion = (
            f"FINDING: epsilon is at least {at_least(self.epsilon_lower)} (wrong with probability at most {wrong})"
            if self.finding
            else f"no finding; epsilon is at least {at_least(self.epsilon_lower)}, and a broken guarantee may go unseen"
        )
        outcomes = ", ".join(self.outcomes[:_MOST_OUTCOMES]) + (", …" if len(self.outcomes) > _MOST_OUTCOMES else "")
        return "\n".join(
            [
                f"audited      {self.subject}, {self.runs:,} runs",
                f"guarantee    {guarantee}, {self.guarantee.relation.words}",
                f"verdict      {conclusion}",
                f"populations  {self.pair}",
                f"event        {self.view}: {outcomes or 'nothing stood out'}",
                f"seen         {_rate(self.likely)} {self.likelier}, {_rate(self.unlikely)} otherwise",
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "subject": self.subject,
            "finding": self.finding,
            "epsilon": self.guarantee.epsilon,
            "delta": self.guarantee.delta,
            "relation": self.guarantee.relation.value,
            "epsilon_lower": self.epsilon_lower,
            "error": self.error,
            "runs": self.runs,
            "pair": self.pair,
            "view": self.view,
            "likelier": self.likelier,
            "event": list(self.outcomes),
            "likely": list(self.likely),
            "unlikely": list(self.unlikely),
        }


def _rate(counted: tuple[int, int]) -> str:
    return f"{counted[0]:,} of {counted[1]:,}"
