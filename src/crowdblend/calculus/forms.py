"""Forms of releases that several chapters describe, and why some parameters describe none."""

from __future__ import annotations

from crowdblend.calculus.description import BIASED, DRAWN, SAMPLED, Composite

STATISTIC = "statistic"
# What a statistic measures, and the noise that it is published with.
DISTANCE, DEGREE = "distance", "degree"
LAPLACE, GRID = "Laplace", "discrete Laplace on a grid"

UNDER_SAMPLING = Composite(SAMPLED, ("rate",))
UNDER_BIAS = Composite(BIASED, ("low", "high", "exceptions", "max_rate"))
OF_DRAWN = Composite(DRAWN, ("samples", "population"))
RELEASES = Composite("releases")

TARGET = "the epsilon that delta is computed for; the guarantee names it"
NAMED = "the guarantee names it"
SIMULATOR = "what the simulator looks at; the guarantee names it"
PROVED = "chosen for the proof; the conclusion names it"
