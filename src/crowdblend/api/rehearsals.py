"""`rehearse`: what to expect of a policy, measured on made-up people; your data are not read and nothing is spent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

from crowdblend.api.sources import publication_of
from crowdblend.errors import InvalidInput
from crowdblend.trusted.guarantees.parameters import check_progress
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.packages import csv, parquet
from crowdblend.trusted.machine.packages import pyarrow as pa

with lazy_imports():
    from crowdblend.kinds.graph.policy import GraphPolicy
    from crowdblend.lab.rehearsal import rehearse as rehearsal
    from crowdblend.lab.rehearsal.made_up import RowsPolicy
    from crowdblend.lab.rehearsal.rehearse import Expectation
    from crowdblend.policies.policy import Policy
    from crowdblend.sources.engines import frames
    from crowdblend.sources.engines.engine import Progress


def rehearse(
    policy: Policy | str | os.PathLike[str],
    *,
    publication: str | None = None,
    people: int | None = None,
    spread: float = 1.0,
    sparsity: float = 0.0,
    like: object = None,
    times: int | None = None,
    progress: Progress | None = None,
) -> Expectation:
    """Release made-up people of the domain of a `policy` this many `times`, and say what to expect.

    Of a policy with several publications, `publication` names the one to rehearse, with what the plan gives it.
    `people` is how many there are, 100,000 unless the policy says it. `spread` 0 has equally many people in every class
    of a column, 1 as 1, 1/2, 1/3, …; `sparsity` is the share of all cells that stay empty at least. `like` is a table
    that is public anyway, or the path of one: people are then drawn from it with replacement. Without `times` there are
    20 releases, or as many as fit in two seconds, but at least three. The result has the cells
    shown, the share of people hidden, the errors and the time; it says nothing about real people, and nothing is
    recorded. `progress` is called with the name of a phase and the rows read so far.
    """
    check_progress(progress)
    named = Path(os.fspath(policy)).name if isinstance(policy, str | os.PathLike) else "policy"
    named = named if publication is None else publication
    return rehearsal.rehearse(
        cast("RowsPolicy | GraphPolicy", publication_of(policy, publication)),
        name=str(named),
        people=people,
        spread=spread,
        sparsity=sparsity,
        like=_public(like),
        times=times,
        progress=progress,
    )


def _public(like: object) -> pa.Table | None:
    """Return a public table in Arrow; text stays text, so that a release reads it as it would read the file."""
    if like is None:
        return None
    if not isinstance(like, str | os.PathLike):
        with frames.opened_frame(like) as frame:
            return pa.table(dict(frame.columns))
    path = Path(os.fspath(like))
    try:
        if path.suffix.lower() == ".parquet":
            return parquet.read_table(str(path))
        with csv.open_csv(path) as reader:
            names = reader.schema.names
        texts = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
        return csv.read_csv(path, convert_options=texts)
    except (OSError, pa.ArrowException):
        message = f"{path.name!r} cannot be read as CSV or Parquet."
        remedy = "Check the path of the public file."
        raise InvalidInput(message, remedy=remedy, where="like", code="rehearsal.like") from None
