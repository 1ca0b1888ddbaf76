"""Examples of the rules about parts of one sample."""

from crowdblend.trusted.guarantees.privacy import CrowdBlending
from crowdblend.trusted.guarantees.profiles import ClosenessCurve, Profile, Uses
from crowdblend.trusted.guarantees.programme import PartInCrowds, PartWithNoise, PrivatePart

from .example import Example

_DELTA = {("rate", "delta"): 1, ("epsilon", "delta"): -1}

PROGRAMME_EXAMPLES: dict[str, list[Example]] = {
    "programme.part": [
        Example((CrowdBlending(10, 0.0),), {"share": 0.25}),
        Example((CrowdBlending(10, 0.5),), {"share": 0.25}),
    ],
    "programme.part-noise-below-k": [Example((), {"k": 5, "noise_epsilon": 2.0, "flag": False, "share": 0.25})],
    "programme.part-points": [Example((), {"k": 5, "noise_epsilon": 2.0, "share": 0.25})],
    "programme.part-private": [Example((Profile((Uses(ClosenessCurve(0.5, 1e-6), 2),)),), {"share": 0.25})],
    "programme.parts": [
        Example((PartInCrowds(0.5, 6, 0.0), PartInCrowds(0.25, 5, 0.0)), {"rate": 0.5, "epsilon": 1.0}, _DELTA),
        Example((PartInCrowds(0.1, 4, 0.0),) * 6, {"rate": 0.3, "epsilon": 0.2}, _DELTA),
        Example((PartInCrowds(0.9, 3, 0.0), PartInCrowds(0.1, 2, 0.0)), {"rate": 0.6, "epsilon": 0.0}, _DELTA),
        Example(
            (
                PartWithNoise(0.5, 5, 1.6, False),
                PrivatePart(0.2, (Uses(ClosenessCurve(1.5, 1e-5), 1),)),
                PartInCrowds(0.2, 6, 0.0),
            ),
            {"rate": 0.5, "epsilon": 1.0},
            _DELTA,
        ),
        Example(
            (PartWithNoise(0.25, 4, 2.0, True), PartWithNoise(0.5, 3, 1.0, False)),
            {"rate": 0.25, "epsilon": 0.5},
            _DELTA,
        ),
    ],
}
