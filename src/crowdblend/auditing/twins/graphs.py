"""Mistakes in networks: a bound on links that nobody checks."""

from __future__ import annotations

from fractions import Fraction

from crowdblend.auditing.claim import ExactClaim
from crowdblend.auditing.exact.distributions import Distribution, epsilon_above
from crowdblend.auditing.exact.worlds import Database, World
from crowdblend.auditing.twins.parts import HALF, blurred, close
from crowdblend.auditing.twins.twin import Twin
from crowdblend.errors import InvalidInput
from crowdblend.guarantees import Relation

BOUND = 2
EDGES = 8


def star(links: int) -> Database:
    """Somebody with so many friends; the table lists the links."""
    return tuple(("hub", friend) for friend in range(links))


def concealed(_graph: Database) -> Database:
    """The same people after the hub's links are concealed."""
    return ()


def unchecked(graph: Database) -> Distribution:
    """The number of links with noise for people of at most two, whoever comes."""
    return blurred(len(graph), HALF, EDGES)


def checked(graph: Database) -> Distribution:
    """The same, and a graph beyond the bound is refused before anything is computed."""
    if len(graph) > BOUND:
        raise InvalidInput(f"everybody must have at most {BOUND} links. Raise the bound before looking at the data.")
    return unchecked(graph)


# One person has up to two links, each of which costs ln 2.
GUARANTEE = close(epsilon_above(Fraction(2) ** BOUND), relation=Relation.CONCEAL)
_STARS = tuple((star(links), concealed(star(links))) for links in range(1, 2 * BOUND + 1))

TWINS = (
    Twin(
        "degree-unchecked",
        "somebody has more links than the bound that the noise was made for",
        ExactClaim(GUARANTEE, unchecked, World((), 0), pairs=_STARS),
        ExactClaim(GUARANTEE, checked, World((), 0), pairs=_STARS),
    ),
)
