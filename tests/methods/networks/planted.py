"""Networks whose statistics are known from how they were made."""

from fractions import Fraction

import numpy as np

from crowdblend.methods.networks import Network, network

# cycles of three, cycles of five, paths of four, people alone, and stars of seven
SHAPES = {"triangles": 60, "pentagons": 30, "paths": 50, "alone": 40, "stars": 20}
PEOPLE = 3 * 60 + 5 * 30 + 4 * 50 + 40 + 7 * 20
LINKS = 3 * 60 + 5 * 30 + 3 * 50 + 6 * 20
COMPONENTS = 60 + 30 + 50 + 40 + 20
ODD = 2 * 50 + 6 * 20
EVEN_COMPONENTS = 60 + 30
DEGREE_BOUND = 6


def planted() -> Network:
    links: list[tuple[int, int]] = []
    first = 0
    for shape, size, pairs in (
        ("triangles", 3, [(0, 1), (1, 2), (0, 2)]),
        ("pentagons", 5, [(i, (i + 1) % 5) for i in range(5)]),
        ("paths", 4, [(0, 1), (1, 2), (2, 3)]),
        ("alone", 1, []),
        ("stars", 7, [(0, i) for i in range(1, 7)]),
    ):
        for _ in range(SHAPES[shape]):
            links += [(first + a, first + b) for a, b in pairs]
            first += size
    ends = np.array(links)
    return network(PEOPLE, ends[:, 0], ends[:, 1])


def share(edits: int) -> Fraction:
    return Fraction(2 * edits, DEGREE_BOUND * PEOPLE)


TRUTH = {
    "connectivity": share(COMPONENTS - 1),
    "cycle-freeness": share(LINKS - PEOPLE + COMPONENTS),
    "eulerian": share(ODD // 2 + EVEN_COMPONENTS - 1),
    "average-degree": Fraction(2 * LINKS, PEOPLE),
}
