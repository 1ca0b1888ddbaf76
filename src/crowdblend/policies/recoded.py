"""Tables and microdata whose recoding may be chosen: columns offer levels, and [recoding] says how to choose."""

from __future__ import annotations

from dataclasses import dataclass

from crowdblend.policies.choosing import Choosing
from crowdblend.policies.crowd import CrowdPolicy
from crowdblend.policies.key import refusal
from crowdblend.policies.policy import part
from crowdblend.policies.source import STDIN

_WHERE = "[recoding]"


@dataclass(frozen=True, kw_only=True)
class RecodedPolicy(CrowdPolicy):
    """What tables and microdata have in common."""

    recoding: Choosing | None = part("recoding", Choosing, "How the recoding is chosen, where columns offer several.")

    def __post_init__(self) -> None:
        super().__post_init__()
        offers = [column.name for column in self.columns if column.chooses]
        if self.recoding is None:
            if offers:
                raise refusal(
                    "recoding",
                    f"column {offers[0]!r} offers several recodings, and nothing says how to choose.",
                    'Add [recoding] with epsilon and using = "population" or "split", or name one level.',
                    f"column {offers[0]!r}",
                )
            return
        if not offers:
            raise refusal(
                "recoding",
                "[recoding] has nothing to choose: no column offers several recodings.",
                'Write level = "choose" for a hierarchy, or remove [recoding].',
                _WHERE,
            )
        self._check_choosing(self.recoding)

    def _check_choosing(self, choosing: Choosing) -> None:
        if choosing.using == "population" and self.sampling.already_drawn:
            raise refusal(
                "recoding",
                'using = "population" in [recoding] needs the whole population, and with already_drawn = true only the '
                "sample exists.",
                'Use using = "split".',
                "[recoding] using",
            )
        if choosing.using == "split" and self.sampling.rate is None:
            raise refusal(
                "recoding",
                'using = "split" in [recoding] needs the sampling rate.',
                "Add rate to [sampling].",
                "[sampling] rate",
            )
        if self.sampling.biased:
            raise refusal(
                "recoding",
                "[recoding] needs one sampling rate for everybody, and [sampling] has low and high.",
                "Remove them, or name one level.",
                _WHERE,
            )
        if choosing.using == "split" and getattr(self, "below_k", "suppress") == "noise":
            raise refusal(
                "recoding",
                'using = "split" in [recoding] is proved for below_k = "suppress" only.',
                'Suppress, or write using = "population".',
                "[recoding] using",
            )
        if self.source == STDIN:
            raise refusal(
                "recoding",
                "A recoding is chosen by reading the data twice, and stdin can be read once.",
                "Save the data to a file.",
                "[data] source",
            )
        from crowdblend.policies.offered import lattice_of  # noqa: PLC0415  loads NumPy

        choosing.search_of(lattice_of(self.columns))
