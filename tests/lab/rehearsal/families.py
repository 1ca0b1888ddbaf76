"""Our own mechanisms with parameters at which their guarantees are tight, so that an audit has something to find.

At δ = 1e-6 a hundred thousand runs see nothing: what makes a guarantee tight happens once in a million. Here δ is the
exact δ of the mechanism at its ε, up to a tenth, and half of that ε is far from true.
"""

from dataclasses import dataclass, replace

from crowdblend.lab.rehearsal.made_up_people import Crowd, Population
from crowdblend.lab.rehearsal.subject import AnySubject, Hard, Neighbours, subject_of
from crowdblend.policies.load import parse_policy
from tests.policies.policies import policy_text

_NETWORK = policy_text(
    data='source = "links.parquet"',
    privacy="epsilon = 10.0",
    release='format = "csv"',
    publish=(
        'kind = "graph"\npeople = 24\ndegree_bound = 4',
        '[[publish.statistics]]\nname = "connectivity"\nsamples = 11',
        '[[publish.statistics]]\nname = "average-degree"\nsamples = 12',
    ),
)


@dataclass(frozen=True)
class Family:
    """A kind of mechanism, and a policy at which it is audited; `further` are populations made for it, if any."""

    name: str
    policy: str
    people: int = 24
    further: tuple[Neighbours[Population], ...] = ()

    def subject(self, hard: Hard, *, understated: float = 1.0, people: int | None = None) -> AnySubject:
        """Return the family as the audit sees it; where classes are independent, many releases are run as one."""
        loaded, made_up = parse_policy(self.policy), people or self.people
        policy = loaded if loaded.is_programme else loaded.only
        found = subject_of(policy, hard, self.name, people=made_up, understated=understated, stacked=True)
        return replace(found, sizes=(), further=self.further) if self.further else found  # type: ignore[call-arg]


def _toml(kind: str, sampling: str, columns: str, privacy: str, publish: str, *, person: str = 'person = "id"') -> str:
    return f"""
[data]
source = "people.parquet"
{person}

[sampling]
{sampling}

[privacy]
{privacy}

[release]
format = "csv"

[columns]
{columns}

[[publish]]
kind = "{kind}"
{publish}
"""


def _crowds(
    kind: str,
    design: str,
    privacy: str,
    publish: str,
    *,
    age: str = "width = 30",
    person: str = 'person = "id"',
    recoding: str = "",
) -> str:
    columns = f'group = {{ values = ["x", "y"] }}\nage = {{ from = 0, to = 90, {age} }}'
    return _toml(kind, design, columns, f"accept_delta = true\n{privacy}\n{recoding}", publish, person=person)


def _two_tables(privacy: str, one: str = "", other: str = "", design: str = "") -> str:
    tables = f"""name = "one"
columns = ["group", "age"]
{one}

[[publish]]
kind = "table"
name = "other"
columns = ["group"]
{other}"""
    return _crowds("table", design or _at(0.7), privacy, tables)


def _at(rate: float) -> str:
    return f'design = "poisson"\nrate = {rate}'


_NUMBERS = {
    "sex": '{ values = ["f", "m"] }',
    "visits": "{ from = 0, to = 1, resolution = 1 }",
    "change": "{ from = -1, to = 1, resolution = 1 }",
}


def _statistics(sample: int, what: str, *, groups: str = '"x", "y"') -> str:
    declared = {"group": f"{{ values = [{groups}] }}", **_NUMBERS}
    columns = "\n".join(f"{name} = {domain}" for name, domain in declared.items() if name in what)
    publish = f'[[publish.statistics]]\nname = "people"\n{what}'
    return _toml("statistics", f'design = "survey"\npeople = {sample}\nof = 24', columns, "epsilon = 3.0", publish)


def _synopsis(sample: int, how: str) -> str:
    columns, drawn = 'group = { values = ["x", "y"] }', f'design = "survey"\npeople = {sample}\nof = 24'
    return _toml("synopsis", drawn, columns, "epsilon = 3.0", f"conjunctions = 1\n{how}")


def _choosing(crowd: int) -> Population:
    """Return crowds too small for the fine recoding, whose union is at k for the coarse one, and others who want it.

    With 19 in the first three a release at rate 1/2 publishes their union best by one person more; with 116 in the
    last, the fine recoding keeps a little more of them than the coarse one gains.
    """
    sizes = (("x", "0", crowd), ("x", "30", 6), ("x", "60", 6), ("y", "0", 116))
    return tuple(Crowd((group, age), size) for group, age, size in sizes)


_BUDGET, _SUPPRESS = "epsilon = 0.8", "k = 10"
_NOISE = 'below_k = "noise"\nk = 8\nshow_from = 1'
_TIPPED = Neighbours("the person tips the choice", _choosing(7), _choosing(6))

FAMILIES = {
    name: Family(name, policy, further=(_TIPPED,) if name == "recoding by the population" else ())
    for name, policy in {
        "suppressed table": _crowds("table", _at(0.8), _BUDGET, _SUPPRESS),
        "thinned table": _crowds("table", _at(0.8), _BUDGET, _SUPPRESS, person="rows_are_people = true"),
        "microdata": _crowds("microdata", _at(0.8), _BUDGET, _SUPPRESS),
        "noise below k, hidden": _crowds("table", _at(0.5), "epsilon = 2.0", _NOISE),
        "noise below k, flagged": _crowds("table", _at(0.5), "epsilon = 2.0", _NOISE + "\nflag = true"),
        "threshold": _crowds("table", 'design = "everybody"', "epsilon = 1.0\ndelta = 0.01", 'below_k = "threshold"'),
        "recoding by the population": _crowds(
            "table",
            _at(0.5),
            "epsilon = 4.4",
            "k = 10",
            age="width = [30, 90], weight = 0.1",
            recoding='[recoding]\nepsilon = 4.0\nusing = "population"',
        ),
        "recoding by a part": _crowds(
            "table",
            _at(0.85),
            _BUDGET,
            "k = 15",
            age="width = [30, 90]",
            recoding='[recoding]\nepsilon = 0.05\nusing = "split"\nshare = 0.02',
        ),
        "points": _crowds(
            "points",
            _at(0.8),
            _BUDGET,
            _SUPPRESS + '\nnoise_epsilon = 0.01\nkeep_in = "block"',
            age="width = 30, resolution = 1",
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
            "table", 'design = "strata"\ncolumn = "group"\nrates = { x = 0.8, y = 0.4 }', f"delta = 0.11\n{_BUDGET}", ""
        ),
        "parts of one sample": _two_tables("delta = 0.1\nepsilon = 0.8", "share = 0.9", "share = 0.05"),
        "fresh samples": _two_tables('epsilon = 0.8\ndelta = 0.1\nsplit = "fresh"', "k = 10", "k = 10"),
        "Gaussian noise": _two_tables(
            'epsilon = 1.0\ndelta = 0.1\nsplit = "budget"', "weight = 20", "weight = 1", 'design = "everybody"'
        ),
        "noise on one sample": _two_tables(
            'epsilon = 1.6\ndelta = 1e-6\nsplit = "budget"', 'below_k = "noise"', 'below_k = "noise"', _at(0.5)
        ),
        "synopsis, fitted": _synopsis(22, 'mechanism = "fitted"\nrows = 4'),
        "synopsis, chosen": _synopsis(24, 'mechanism = "exponential"\nrows = 1'),
        "network": _NETWORK,
    }.items()
}
