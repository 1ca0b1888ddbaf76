"""Publish data about people: exact where the crowd is large enough, under a certificate anyone can re-check.

    import crowdblend as cb

    policy = cb.Policy(...)                what you decide
    policy.plan()                          what it will cost and give
    cb.check(frame, policy)                which rows do not fit, for you alone
    cb.rehearse(policy)                    what to expect of it, on made-up people
    done = cb.release(frame, policy)       the published data, recorded in your ledger
    cb.verify(done)                        what anyone who gets them can do

Every name is loaded when it is asked for: importing this package loads neither NumPy nor DuckDB. `help(cb.release)`
explains a name, its parameters too. The example there runs after these lines, which make up a town of 2,000 people:

>>> import tempfile, warnings
>>> import crowdblend as cb
>>> from crowdblend.lab.demo import town
>>> people, folder = town(2_000), tempfile.mkdtemp()
>>> sex, age = cb.values("female", "male"), cb.intervals(0, 120, width=40)
>>> policy = cb.Policy(
...     person="person_id", sampling=cb.Poisson(0.5), epsilon=1.0, delta=1e-6,
...     columns={"sex": sex, "age": age}, publish=cb.Table("sex", "age"))
>>> income = cb.bounds(0, 200_000, resolution=100, outside="clamp")
>>> incomes = cb.Policy(
...     person="person_id", sampling=cb.Everybody(), people=2_000, epsilon=1.0,
...     columns={"sex": sex, "income": income}, publish=cb.Statistics(cb.median("income"), by="sex"))
>>> done = cb.release(people, policy, out=f"{folder}/published", ledger=None)
>>> def published(statistic, **columns):                # the columns of what a statistic publishes
...     one = incomes.replace(columns=columns, publish=cb.Statistics(statistic))
...     return cb.release(people, one, ledger=None, figures=False).data.column_names
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.version import __version__

with lazy_imports():  # nothing is loaded before it is asked for
    from crowdblend.api.checks import audit, compose, sign, verify
    from crowdblend.api.columns import axis, bounds, breaks, date, hierarchy, intervals, prefix, values
    from crowdblend.api.private_check import check
    from crowdblend.api.proposing import Proposal, propose
    from crowdblend.api.rehearsals import rehearse
    from crowdblend.api.release import release, resume
    from crowdblend.api.statistics import average, count, fraction, histogram, median, quantile, total
    from crowdblend.errors import CrowdblendError, DoesNotCompose, DoesNotVerify, Infeasible, InvalidInput
    from crowdblend.kinds.graph.policy import Graph, GraphStatistic
    from crowdblend.kinds.microdata.policy import Microdata
    from crowdblend.kinds.outlier_table.policy import OutlierTable
    from crowdblend.kinds.points.policy import NamedBox, Points, QuadtreeRegion
    from crowdblend.kinds.statistics.policy import Statistics
    from crowdblend.kinds.statistics.statistic import Statistic
    from crowdblend.kinds.synopsis.policy import Synopsis
    from crowdblend.kinds.table.policy import Table
    from crowdblend.ledger import Ledger
    from crowdblend.methods.mechanisms.measurement import sample_and_sanitize
    from crowdblend.methods.planning.plan import Plan, plan
    from crowdblend.policies.choosing import Choosing
    from crowdblend.policies.load import load_policy
    from crowdblend.policies.policy import Policy
    from crowdblend.policies.sampling import Biased, Coins, Everybody, Poisson, Strata, Survey, Weights
    from crowdblend.policies.terms import About
    from crowdblend.publishing.finished_release import Release
    from crowdblend.publishing.synthesis.policy import Synthetic
    from crowdblend.publishing.synthesis.synthesize import synthesize
    from crowdblend.reading.release import PublishedRelease, read
    from crowdblend.trusted.calculus.certificate import Certificate

__all__ = [
    "About",
    "Biased",
    "Certificate",
    "Choosing",
    "Coins",
    "CrowdblendError",
    "DoesNotCompose",
    "DoesNotVerify",
    "Everybody",
    "Graph",
    "GraphStatistic",
    "Infeasible",
    "InvalidInput",
    "Ledger",
    "Microdata",
    "NamedBox",
    "OutlierTable",
    "Plan",
    "Points",
    "Poisson",
    "Policy",
    "Proposal",
    "PublishedRelease",
    "QuadtreeRegion",
    "Release",
    "Statistic",
    "Statistics",
    "Strata",
    "Survey",
    "Synopsis",
    "Synthetic",
    "Table",
    "Weights",
    "__version__",
    "audit",
    "average",
    "axis",
    "bounds",
    "breaks",
    "check",
    "compose",
    "count",
    "date",
    "fraction",
    "hierarchy",
    "histogram",
    "intervals",
    "load_policy",
    "median",
    "plan",
    "prefix",
    "propose",
    "quantile",
    "read",
    "rehearse",
    "release",
    "resume",
    "sample_and_sanitize",
    "sign",
    "synthesize",
    "total",
    "values",
    "verify",
]

# A name is loaded from its module when it is asked for, and not as the stand-in that it has here.
_MODULES = {name: globals().pop(name).__name__.rpartition(".")[0] for name in __all__ if name != "__version__"}


# Where something is that other packages have under such a name.
_ELSEWHERE = {
    **dict.fromkeys(("mean", "avg"), "average(…)"),
    **dict.fromkeys(("sum", "add"), "total(…)"),
    **dict.fromkeys(("share", "proportion"), "fraction(…)"),
    **dict.fromkeys(("percentile", "percentiles", "quantiles"), "quantile(…)"),
    **dict.fromkeys(("laplace", "gaussian", "noise"), 'Table(…, below_k="noise"), or a budget for statistics'),
    **dict.fromkeys(("load", "from_toml", "policy"), "load_policy(…) for a file, Policy(…) for a new one"),
    **dict.fromkeys(("publish", "run"), "release(…)"),
    **dict.fromkeys(("simulate", "dry_run"), "rehearse(…) for made-up people, Policy.plan() for what it costs"),
}

if not TYPE_CHECKING:  # a misspelt name is an error of types, too

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            place = _ELSEWHERE.get(name.lower())
            hint = f". Use {place}" if place else ""
            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}{hint}", name=name, obj=sys.modules[__name__]
            )
        loaded = getattr(import_module(_MODULES[name]), name)
        import_module("crowdblend.api.reference").document(name, loaded)
        globals()[name] = loaded
        return loaded


def __dir__() -> list[str]:
    return sorted(__all__)
