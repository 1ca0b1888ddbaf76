"""Our own mechanisms with parameters at which their guarantees are tight, so that an audit has something to find.

At δ = 1e-6 a hundred thousand runs see nothing: what makes a guarantee tight happens once in a million. Here δ is the
exact δ of the mechanism at its ε, up to a tenth, and half of that ε is far from true.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from crowdblend.policies.load import parse_policy
from crowdblend.rehearsal.made_up_people import Crowd
from crowdblend.rehearsal.registry import Hard, subject_of
from crowdblend.rehearsal.rehearsed import Neighbours

_PEOPLE = """
[data]
source = "people.parquet"
{who}

[sampling]
rate = {rate}

[columns]
group = {{ values = ["x", "y"] }}
age = {{ from = 0, to = 90, {age} }}

[release]
format = "csv"
accept_delta = true
{release}
"""


_POINTS = """
[data]
source = "people.parquet"
person = "id"

[sampling]
rate = 0.8

[columns]
group = { values = ["x", "y"] }
age = { from = 0, to = 90, width = 30, resolution = 1 }

[points]
keep_in = "block"

[release]
kind = "points"
accept_delta = true
format = "csv"
k = 10
epsilon = 0.8
noise_epsilon = 0.01
"""

_STATISTICS = """
[data]
source = "people.parquet"
person = "id"
people = 24

[sampling]
sample = {sample}

[columns]
group = {{ values = [{groups}] }}
sex = {{ values = ["f", "m"] }}
visits = {{ from = 0, to = 1, resolution = 1 }}
change = {{ from = -1, to = 1, resolution = 1 }}

[release]
kind = "statistics"
format = "csv"
epsilon = 3.0

[[statistics]]
name = "people"
{what}
"""

_STRATA = """
[data]
source = "people.parquet"
person = "id"

[sampling]
stratum = "group"
rates = { x = 0.8, y = 0.4 }

[columns]
group = { values = ["x", "y"] }
age = { from = 0, to = 90, width = 30 }

[release]
kind = "table"
format = "csv"
accept_delta = true
delta = 0.11
epsilon = 0.8
"""

_TABLES = """
[[tables]]
name = "one"
columns = ["group", "age"]
{one}
[[tables]]
name = "other"
columns = ["group"]
{other}
"""

_SYNOPSIS = """
[data]
source = "people.parquet"
person = "id"
people = 24

[sampling]
sample = {sample}

[columns]
group = {{ values = ["x", "y"] }}

[synopsis]
conjunctions = 1
{how}

[release]
kind = "synopsis"
format = "csv"
epsilon = 3.0
"""

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
    further: tuple[Neighbours, ...] = ()

    def subject(self, hard: Hard, *, understated: float = 1.0, people: int | None = None) -> Any:
        """The family as the audit sees it; where classes are independent, many releases are run as one."""
        found = subject_of(
            parse_policy(self.policy),
            hard,
            name=self.name,
            people=people or self.people,
            understated=understated,
            stacked=True,
        )
        return replace(found, sizes=(), further=self.further) if self.further else found


def _policy(release: str, rate: float, *, who: str = 'person = "id"', age: str = "width = 30") -> str:
    return _PEOPLE.format(release=release, rate=rate, who=who, age=age)


def _statistics(sample: int, what: str, *, groups: str = '"x", "y"') -> str:
    return _STATISTICS.format(sample=sample, what=what, groups=groups)


def _choosing(crowd: int) -> tuple[Crowd, ...]:
    """Crowds too small for the fine recoding whose union is at k for the coarse one, and people who want the fine one.

    With 19 in the first three a release at rate 1/2 publishes their union best by one person more; with 116 in the
    last, the fine recoding keeps a little more of them than the coarse one gains.
    """
    sizes = (("x", "0", crowd), ("x", "30", 6), ("x", "60", 6), ("y", "0", 116))
    return tuple(Crowd((group, age), size) for group, age, size in sizes)


_SUPPRESS = 'kind = "table"\nk = 10\nepsilon = 0.8\n'
_NOISE = 'kind = "table"\nbelow_k = "noise"\nk = 8\nepsilon = 2.0\nshow_from = 1\n'
_BY_EVERYBODY = 'kind = "table"\nk = 10\nepsilon = 4.4\n[recoding]\nepsilon = 4.0\nusing = "population"\n'
_BY_A_PART = 'kind = "table"\nk = 15\nepsilon = 0.8\n[recoding]\nepsilon = 0.05\nusing = "split"\nshare = 0.02\n'

FAMILIES = {
    family.name: family
    for family in (
        Family("suppressed table", _policy(_SUPPRESS, 0.8)),
        Family("thinned table", _policy(_SUPPRESS, 0.8, who="rows_are_people = true")),
        Family("microdata", _policy('kind = "microdata"\nk = 10\nepsilon = 0.8\n', 0.8)),
        Family("noise below k, hidden", _policy(_NOISE, 0.5)),
        Family("noise below k, flagged", _policy(_NOISE + "flag = true\n", 0.5)),
        Family(
            "recoding by the population",
            _policy(_BY_EVERYBODY, 0.5, age="width = [30, 90], weight = 0.1"),
            further=(Neighbours("the person tips the choice", _choosing(7), _choosing(6)),),
        ),
        Family("recoding by a part", _policy(_BY_A_PART, 0.85, age="width = [30, 90]")),
        Family("points", _POINTS),
        Family("statistics of a sample", _statistics(12, 'histogram = "group"', groups='"x", "y", "z"')),
        Family("statistics of everybody", _statistics(23, 'count = { group = "x" }')),
        *(
            Family(name, _statistics(sample, what))
            for name, sample, what in (
                ("counts in groups", 12, 'count = { sex = "f" }\nby = ["group"]'),
                ("sum", 12, 'sum = "visits"'),
                ("sum in groups", 24, 'sum = "change"\nby = ["group"]'),
                ("average in groups", 24, 'average = "visits"\nby = ["group"]'),
                ("median", 24, 'median = "visits"'),
                ("median in groups", 24, 'median = "visits"\nby = ["group"]'),
                ("quantile", 24, 'quantile = "visits"\nat = 0.75'),
            )
        ),
        Family("stratified table", _STRATA),
        Family(
            "parts of one sample",
            _policy('kind = "table"\ndelta = 0.1\nepsilon = 0.8\n', 0.7)
            + _TABLES.format(one="share = 0.9", other="share = 0.05"),
        ),
        Family(
            "fresh samples",
            _policy(_SUPPRESS, 0.7).replace("rate = 0.7", "rate = 0.7\nfresh = true")
            + _TABLES.format(one="", other=""),
        ),
        Family("synopsis, fitted", _SYNOPSIS.format(sample=22, how='mechanism = "fitted"\nrows = 4')),
        Family("synopsis, chosen", _SYNOPSIS.format(sample=24, how='mechanism = "exponential"\nrows = 1')),
        Family("network", _NETWORK),
    )
}
