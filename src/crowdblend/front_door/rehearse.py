"""`rehearse`: the same release on made-up people of the declared domain, or on a file that is public anyway.

Nothing is read of the steward's data, nothing is recorded, and nothing is spent.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdblend.front_door.sources import about, loaded_policy

if TYPE_CHECKING:
    from crowdblend.calculus import Certificate
    from crowdblend.engines.engine import Progress
    from crowdblend.policies.policy import Policy
    from crowdblend.rehearsal.domain_people import Spread

_PUBLIC = "Rehearsal on a public file"


@dataclass(frozen=True)
class RehearsedRelease:
    """A release that is about nobody: its folder, its certificate, and the share of people that was suppressed.

    The share is of made-up or public people, so that it may be shown; None where nothing is suppressed.
    """

    folder: Path
    certificate: Certificate
    suppressed: float | None

    def to_dict(self) -> dict[str, Any]:
        """What was rehearsed as JSON-ready data."""
        return {"folder": str(self.folder), "suppressed": self.suppressed}


def rehearse(
    policy: Policy | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    people: int | None = None,
    spread: Spread = "even",
    data: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> RehearsedRelease:
    """Publish into a folder what the policy would publish about made-up people of its domain.

    `people` is how many there are, 10,000 unless given; where the guarantee depends on their number, as many as the
    policy says. With `spread` "skewed" the first classes of each column are the most common ones. `data` is a file
    that is public anyway, to rehearse with instead. No ledger records it.
    """
    from crowdblend.policies.about import About  # noqa: PLC0415
    from crowdblend.publishing import release as publishing  # noqa: PLC0415 - heavy
    from crowdblend.rehearsal.domain_people import write_people  # noqa: PLC0415 - heavy

    loaded = loaded_policy(policy)
    with tempfile.TemporaryDirectory(prefix="crowdblend-", ignore_cleanup_errors=True) as folder:
        if data is None:
            here = write_people(loaded, Path(folder), people, spread)
        else:
            told = replace(loaded.about, title=_PUBLIC) if loaded.about else About(title=_PUBLIC)
            with about(data, replace(loaded, about=told, table=None), "duckdb") as placed:
                here = placed
        done = publishing.release(here, Path(out), ledger=None, progress=progress)
    return RehearsedRelease(done.folder, done.certificate, _suppressed(loaded, done.internal))


def _suppressed(policy: Any, internal: Any) -> float | None:
    share = internal.get("relative_difference")
    return float(share) if getattr(policy, "below_k", None) == "suppress" and isinstance(share, int | float) else None
