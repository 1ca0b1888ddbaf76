"""A rehearsal as readers would get it: one release on made-up people of the declared domain, or on a public file.

Nothing is read of the steward's data, nothing is recorded, and nothing is spent. `rehearse` measures many of them.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, cast

from crowdblend.api.sources import about, loaded_policy
from crowdblend.policies.policy import Policy
from crowdblend.policies.terms import About
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.kinds import AnyPolicy
    from crowdblend.kinds.graph.policy import GraphPolicy
    from crowdblend.lab.rehearsal import made_up
    from crowdblend.lab.rehearsal import rehearse as rehearsal
    from crowdblend.lab.rehearsal.made_up import RowsPolicy
    from crowdblend.publishing import release as publishing
    from crowdblend.sources.engines.engine import Progress

MADE_UP, PUBLIC = "Rehearsal on made-up people", "Rehearsal on a public file"
USUAL_PEOPLE = 10_000
Spread = Literal["even", "skewed"]
SPREADS: dict[str, float] = {"even": 0.0, "skewed": 1.0}


def rehearse_into(
    policy: Policy | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    people: int | None = None,
    spread: Spread = "even",
    data: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> float | None:
    """Publish into a folder what the policy would publish about made-up people; the share of them that was suppressed.

    `people` is how many there are, 10,000 unless given; a policy that says how many people there are gets as many.
    With `spread` "skewed" the first classes of each column are the most common ones. `data` is a file that is public
    anyway, to rehearse with instead. No ledger records it, and the report says what it is about. The share is of
    made-up or public people, so that it may be shown; None where nothing is suppressed.
    """
    loaded = loaded_policy(policy)
    title = MADE_UP if data is None else PUBLIC
    loaded = loaded.replace(about=loaded.about.replace(title=title) if loaded.about else About(title=title))
    placed: AbstractContextManager[AnyPolicy]
    parts = cast("tuple[RowsPolicy | GraphPolicy, ...]", loaded.parts)
    if data is None:
        declared = parts[0].publication.rows_are_links or parts[0].people is not None
        made = made_up.make_up_for_all(parts, None if declared else people or USUAL_PEOPLE, spread=SPREADS[spread])
        placed = rehearsal.about_made_up(loaded if loaded.is_programme else parts[0], made, SPREADS[spread])
    else:
        placed = about(data, loaded.replace(table=None), "duckdb")
    with placed as here:
        done = publishing.release(here, Path(out), ledger=None, progress=progress)
    share = done.internal.get("relative_difference")
    return float(share) if parts[0].suppresses and share is not None else None
