"""The simulators of the zero-knowledge proofs, as code that runs.

Zero-knowledge privacy says that what is published could have been made up by somebody who sees only aggregate
information about a table in which the person's row is concealed. A simulator is that somebody. None is used in a
release; they are here so that the claim can be tried: on tiny tables exactly, on larger ones by drawing from both.
"""

from crowdblend.mechanisms.simulators.protocol import RandomRows, Simulator
from crowdblend.mechanisms.simulators.totals import EverybodySimulator, SampleSimulator

__all__ = ["EverybodySimulator", "RandomRows", "SampleSimulator", "Simulator"]
