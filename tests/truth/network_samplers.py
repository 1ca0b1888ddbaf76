"""The samplers of networks by their definition, and the exact distribution of what they say."""

from fractions import Fraction

from .small_graphs import Graph, component, degrees, links


def term(name: str, n: int, graph: Graph, vertex: int, explored: int) -> Fraction:
    """What the sampler adds up for a random vertex, when it explores at most so many vertices."""
    part = component(n, graph, vertex)
    found = Fraction(1, len(part)) if len(part) <= explored else Fraction(0)
    degree = degrees(n, graph)[vertex]
    if name == "connected":
        return found
    if name == "cycle-free":
        return Fraction(degree, 2) - 1 + found
    if degree % 2:
        return Fraction(1, 2)
    even = degree > 0 and all(degrees(n, graph)[v] % 2 == 0 for v in part)
    return found if even else Fraction(0)


def estimate(name: str, n: int, average: Fraction, degree_bound: int) -> Fraction:
    """The distance that an average of terms stands for, edits divided by M = d·n/2."""
    edits = n * average - (0 if name == "cycle-free" else 1)
    return (max(edits, Fraction(0)) if name == "eulerian" else edits) / Fraction(degree_bound * n, 2)


def light_ends(n: int, graph: Graph, vertex: int) -> Fraction:
    """Twice the neighbours with more links, ties by number."""
    rank = [(degree, v) for v, degree in enumerate(degrees(n, graph))]
    ends = [a + b - vertex for a, b in links(n, graph) if vertex in (a, b)]
    return Fraction(2 * sum(rank[other] > rank[vertex] for other in ends))


def averages(terms: list[Fraction], samples: int) -> dict[Fraction, Fraction]:
    """The exact distribution of the average of so many terms, each of a random vertex."""
    sums = {Fraction(0): Fraction(1)}
    for _ in range(samples):
        longer: dict[Fraction, Fraction] = {}
        for total, chance in sums.items():
            for value in terms:
                longer[total + value] = longer.get(total + value, Fraction(0)) + chance / len(terms)
        sums = longer
    return {total / samples: chance for total, chance in sums.items()}
