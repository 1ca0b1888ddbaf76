"""Our own mechanisms with parameters at which their guarantees are tight, so that an audit has something to find.

At δ = 1e-6 a hundred thousand runs see nothing: what makes a guarantee tight happens once in a million. Here δ is the
exact δ of the mechanism at its ε, up to a tenth, and half of that ε is far from true.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from crowdblend.policies.load import parse_policy
from crowdblend.rehearsal.made_up_people import Crowd, Population
from crowdblend.rehearsal.subject import AnySubject, Hard, Neighbours, subject_of

_NETWORK = """
[data]
source = "links.parquet"

[graph]
people = 24
degree_bound = 4

[[graph.statistics]]
name = "connectivity"
samples = 11

[[graph.statistics]]
name = "average-degree"
samples = 12

[release]
kind = "graph"
format = "csv"
epsilon = 10.0
"""


@dataclass(frozen=True)
class Family:
    """A kind of mechanism, and a policy at which it is audited; `further` are populations made for it, if any."""

    name: str
    policy: str
    people: int = 24
    further: tuple[Neighbours[Population], ...] = ()

    def subject(self, hard: Hard, *, understated: float = 1.0, people: int | None = None) -> AnySubject:
        """Return the family as the audit sees it; where classes are independent, many releases are run as one."""
        policy, made_up = parse_policy(self.policy), people or self.people
        found = subject_of(policy, hard, self.name, people=made_up, understated=understated, stacked=True)
        return replace(found, sizes=(), further=self.further) if self.further else found  # type: ignore[call-arg]


def _toml(kind: str, sampling: str, columns: str, release: str, *, data: str = 'person = "id"', more: str = "") -> str:
    return f"""
[data]
source = "people.parquet"
{data}

[sampling]
{sampling}

[columns]
{columns}

[release]
kind = "{kind}"
format = "csv"
{release}
{more}
"""


def _crowds(
    kind: str, sampling: str, release: str, *, age: str = "width = 30", data: str = 'person = "id"', more: str = ""
) -> str:
    columns = f'group = {{ values = ["x", "y"] }}\nage = {{ from = 0, to = 90, {age} }}'
    return _toml(kind, sampling, columns, f"accept_delta = true\n{release}", data=data, more=more)


def _statistics(sample: int, what: str, *, groups: str = '"x", "y"') -> str:
    columns = f"""group = {{ values = [{groups}] }}
sex = {{ values = ["f", "m"] }}
visits = {{ from = 0, to = 1, resolution = 1 }}
change = {{ from = -1, to = 1, resolution = 1 }}"""
    more = f'[[statistics]]\nname = "people"\n{what}'
    who = 'person = "id"\npeople = 24'
    return _toml("statistics", f"sample = {sample}", columns, "epsilon = 3.0", data=who, more=more)


def _synopsis(sample: int, how: str) -> str:
    columns, who = 'group = { values = ["x", "y"] }', 'person = "id"\npeople = 24'
    more = f"[synopsis]\nconjunctions = 1\n{how}"
    return _toml("synopsis", f"sample = {sample}", columns, "epsilon = 3.0", data=who, more=more)


def _two_tables(one: str = "", other: str = "") -> str:
    return f"""[[tables]]
name = "one"
columns = ["group", "age"]
{one}
[[tables]]
name = "other"
columns = ["group"]
{other}"""


def _choosing(crowd: int) -> Population:
    """Return crowds too small for the fine recoding, whose union is at k for the coarse one, and others who want it.

    With 19 in the first three a release at rate 1/2 publishes their union best by one person more; with 116 in the
    last, the fine recoding keeps a little more of them than the coarse one gains.
    """
    sizes = (("x", "0", crowd), ("x", "30", 6), ("x", "60", 6), ("y", "0", 116))
    return tuple(Crowd((group, age), size) for group, age, size in sizes)


_SUPPRESS = "k = 10\nepsilon = 0.8\n"
_NOISE = 'below_k = "noise"\nk = 8\nepsilon = 2.0\nshow_from = 1\n'
_TIPPED = Neighbours("the person tips the choice", _choosing(7), _choosing(6))

FAMILIES = {
    name: Family(name, policy, further=(_TIPPED,) if name == "recoding by the population" else ())
    for name, policy in {
        "suppressed table": _crowds("table", "rate = 0.8", _SUPPRESS),
        "thinned table": _crowds("table", "rate = 0.8", _SUPPRESS, data="rows_are_people = true"),
        "microdata": _crowds("microdata", "rate = 0.8", _SUPPRESS),
        "noise below k, hidden": _crowds("table", "rate = 0.5", _NOISE),
        "noise below k, flagged": _crowds("table", "rate = 0.5", _NOISE + "flag = true\n"),
        "recoding by the population": _crowds(
            "table",
            "rate = 0.5",
            "k = 10\nepsilon = 4.4",
            age="width = [30, 90], weight = 0.1",
            more='[recoding]\nepsilon = 4.0\nusing = "population"',
        ),
        "recoding by a part": _crowds(
            "table",
            "rate = 0.85",
            "k = 15\nepsilon = 0.8",
            age="width = [30, 90]",
            more='[recoding]\nepsilon = 0.05\nusing = "split"\nshare = 0.02',
        ),
        "points": _crowds(
            "points",
            "rate = 0.8",
            _SUPPRESS + "noise_epsilon = 0.01\n",
            age="width = 30, resolution = 1",
            more='[points]\nkeep_in = "block"',
        ),
        "statistics of a sample": _statistics(12, 'histogram = "group"', groups='"x", "y", "z"'),
        "statistics of everybody": _statistics(23, 'count = { group = "x" }'),
        "counts in groups": _statistics(12, 'count = { sex = "f" }\nby = ["group"]'),
        "sum": _statistics(12, 'sum = "visits"'),
        "sum in groups": _statistics(24, 'sum = "change"\nby = ["group"]'),
        "average in groups": _statistics(24, 'average = "visits"\nby = ["group"]'),
        "median": _statistics(24, 'median = "visits"'),
        "median in groups": _statistics(24, 'median = "visits"\nby = ["group"]'),
        "quantile": _statistics(24, 'quantile = "visits"\nat = 0.75'),
        "stratified table": _crowds(
            "table", 'stratum = "group"\nrates = { x = 0.8, y = 0.4 }', "delta = 0.11\nepsilon = 0.8"
        ),
        "parts of one sample": _crowds(
            "table", "rate = 0.7", "delta = 0.1\nepsilon = 0.8", more=_two_tables("share = 0.9", "share = 0.05")
        ),
        "fresh samples": _crowds("table", "rate = 0.7\nfresh = true", _SUPPRESS, more=_two_tables()),
        "synopsis, fitted": _synopsis(22, 'mechanism = "fitted"\nrows = 4'),
        "synopsis, chosen": _synopsis(24, 'mechanism = "exponential"\nrows = 1'),
        "network": _NETWORK,
    }.items()
}
