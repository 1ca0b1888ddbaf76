"""`Policy.recode`: the rows of a frame with the labels that a release of the policy uses."""

from __future__ import annotations

import os
from typing import Any

from crowdblend.policies.policy import Policy
from crowdblend.reading.data_frames import TableForm, frames_of
from crowdblend.sources.engines.duckdb.recoded_rows import recoded_rows
from crowdblend.sources.engines.frames import opened_frame
from crowdblend.sources.engines.refusals import refusal
from crowdblend.trusted.machine.packages import pyarrow as pa


def recode(policy: Policy, data: object) -> Any:
    """Return the declared columns of a frame with their labels, in the package of the frame."""
    if data is None or isinstance(data, str | os.PathLike):
        message = f"recode takes a frame, got {type(data).__name__}."
        raise refusal("type", message, "Read the file first, such as with pandas.read_csv(path).", "data")
    with opened_frame(data) as frame:
        known = {*frame.columns, *frame.unreadable}
        columns = [column for column in policy.columns if column.recodings and column.name in known]
        if not columns:
            message = f"{frame.name} has none of the columns of the policy that have labels."
            raise refusal("no-column", message, "Pass a frame with one of them at least.", "data")
        chosen = next((column for column in columns if column.chooses), None)
        if chosen is not None:
            message = f"Column {chosen.name!r} offers several recodings, and the release chooses among them."
            raise refusal("recoding", message, "Declare the one that it chose.", f"column {chosen.name!r}")
        table = recoded_rows(frame, columns)
        whole = frozenset(name for name, column in frame.columns.items() if pa.types.is_integer(column.type))
    domains = {column.name: column.recoding.domain() for column in columns}
    recoded = TableForm(frames_of(data), whole).frame(table, domains)
    if frames_of(data) == "pandas":
        recoded.index = data.index  # type: ignore[attr-defined]
    return recoded
