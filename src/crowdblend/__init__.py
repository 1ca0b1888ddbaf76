"""Publish data about people: exact where the crowd is large enough, under a certificate anyone can re-check.

    import crowdblend as cb

    policy = cb.Table(...)                 what you decide
    policy.plan()                          what it will cost and give
    cb.rehearse(policy)                    what to expect of it, on made-up people
    done = cb.release(frame, policy)       the published data, recorded in your ledger
    cb.verify(done)                        what anyone who gets them can do

Every name is loaded when it is asked for: importing this package loads neither NumPy nor DuckDB.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crowdblend.version import __version__

if TYPE_CHECKING:
    from crowdblend.api.checks import audit, compose, sign, verify
    from crowdblend.api.columns import axis, bounds, breaks, date, hierarchy, intervals, prefix, values
    from crowdblend.api.rehearsals import rehearse
    from crowdblend.api.release import release, resume
    from crowdblend.calculus.certificate import Certificate
    from crowdblend.errors import CrowdblendError
    from crowdblend.kinds.graph.policy import Graph, GraphStatistic, Links
    from crowdblend.kinds.microdata.policy import Microdata
    from crowdblend.kinds.outlier_table.policy import OutlierTable
    from crowdblend.kinds.points.policy import NamedBox, Points, QuadtreeRegion
    from crowdblend.kinds.statistics.policy import Statistics
    from crowdblend.kinds.statistics.statistic import Statistic
    from crowdblend.kinds.synopsis.policy import Synopsis
    from crowdblend.kinds.table.policy import NamedTable, Table
    from crowdblend.ledger import Ledger
    from crowdblend.mechanisms.measurement import sample_and_sanitize
    from crowdblend.planning.plan import Plan, plan
    from crowdblend.policies.choosing import Choosing
    from crowdblend.policies.load import load_policy
    from crowdblend.policies.sampling import ExactSample, Sampling
    from crowdblend.publishing.published import Release
    from crowdblend.reading.release import PublishedRelease, read

# Where each name lives: nothing is loaded before it is asked for.
_MODULES = {
    "Certificate": "calculus.certificate",
    "Choosing": "policies.choosing",
    "CrowdblendError": "errors",
    "ExactSample": "policies.sampling",
    "Graph": "kinds.graph.policy",
    "GraphStatistic": "kinds.graph.policy",
    "Ledger": "ledger",
    "Links": "kinds.graph.policy",
    "Microdata": "kinds.microdata.policy",
    "NamedBox": "kinds.points.policy",
    "NamedTable": "kinds.table.policy",
    "OutlierTable": "kinds.outlier_table.policy",
    "Plan": "planning.plan",
    "Points": "kinds.points.policy",
    "PublishedRelease": "reading.release",
    "QuadtreeRegion": "kinds.points.policy",
    "Release": "publishing.published",
    "Sampling": "policies.sampling",
    "Statistic": "kinds.statistics.statistic",
    "Statistics": "kinds.statistics.policy",
    "Synopsis": "kinds.synopsis.policy",
    "Table": "kinds.table.policy",
    "audit": "api.checks",
    "axis": "api.columns",
    "bounds": "api.columns",
    "breaks": "api.columns",
    "compose": "api.checks",
    "date": "api.columns",
    "hierarchy": "api.columns",
    "intervals": "api.columns",
    "load_policy": "policies.load",
    "plan": "planning.plan",
    "prefix": "api.columns",
    "read": "reading.release",
    "rehearse": "api.rehearsals",
    "release": "api.release",
    "resume": "api.release",
    "sample_and_sanitize": "mechanisms.measurement",
    "sign": "api.checks",
    "values": "api.columns",
    "verify": "api.checks",
}

__all__ = [
    "Certificate",
    "Choosing",
    "CrowdblendError",
    "ExactSample",
    "Graph",
    "GraphStatistic",
    "Ledger",
    "Links",
    "Microdata",
    "NamedBox",
    "NamedTable",
    "OutlierTable",
    "Plan",
    "Points",
    "PublishedRelease",
    "QuadtreeRegion",
    "Release",
    "Sampling",
    "Statistic",
    "Statistics",
    "Synopsis",
    "Table",
    "__version__",
    "audit",
    "axis",
    "bounds",
    "breaks",
    "compose",
    "date",
    "hierarchy",
    "intervals",
    "load_policy",
    "plan",
    "prefix",
    "read",
    "rehearse",
    "release",
    "resume",
    "sample_and_sanitize",
    "sign",
    "values",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _MODULES[name].startswith(("policies.", "kinds.")):
        import_module("crowdblend.kinds")  # tells policies how they are planned
    loaded = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = loaded
    return loaded


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
