"""The policy of synthetic rows: the tables that are published for them, and how many rows are drawn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Literal

from crowdblend.kinds.table.policy import Table
from crowdblend.policies.columns import check_closed, check_names, refuse_choice, refuse_numbers
from crowdblend.policies.key import key
from crowdblend.policies.policy import Policy
from crowdblend.policies.publication import Publication
from crowdblend.policies.publication_policy import PeoplePolicy
from crowdblend.policies.refusals import did_you_mean, refusal
from crowdblend.policies.terms import Drawn, Terms
from crowdblend.policies.unit import ROWS
from crowdblend.policies.value_types import Texts
from crowdblend.publishing.synthesis.facts import MOST_ROWS, STEM
from crowdblend.trusted.guarantees.parameters import MOST_PARTS

_TIMES = " * "


class Synthetic(Publication, frozen=True, kw_only=True):
    """Synthetic rows, and the noisy tables that they are drawn from."""

    kind = "synthetic"
    designs = ("everybody", "poisson", "coins")
    lacks = (ROWS, "recoding")
    joins_others = False
    without = ("name", "share", "weight")

    rows: Annotated[int, key("How many synthetic rows are drawn; they cost no privacy.", (1, MOST_ROWS))]
    tables: Annotated[
        Texts,
        key(
            'The tables that are published and that rows are made from, such as ["sex * age", "age * district"]; all '
            "tables of two columns unless given."
        ),
    ] = ()

    if TYPE_CHECKING:

        def __init__(self, *columns: str, rows: int, tables: Sequence[str] | None = None) -> None: ...


class SyntheticPolicy(PeoplePolicy, frozen=True, kw_only=True):
    """Tables of columns that share one budget, and rows drawn from a model of what is published of them."""

    publication: Synthetic
    sampling: Drawn
    epsilon: Annotated[float, key("The privacy loss of all tables together.", "epsilon", section="privacy")]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_certified()
        refuse_numbers(self.columns)
        refuse_choice(self.columns, self.kind)
        check_names(self.columns, self.person, ())
        check_closed(self.columns, f'`publish.kind = "{self.kind}"`')
        names = [column.name for column in self.columns]
        for table in self.table_columns:
            for name in table:
                if name not in names:
                    message = f"`publish.tables` names a column {name[:60]!r} that is not published."
                    raise refusal("unknown-column", message, did_you_mean(name, names), "`publish.tables`")
            if len(set(table)) < len(table):
                message = "`publish.tables` names a column twice in one table."
                raise refusal("publication-columns", message, "Name each column once.", "`publish.tables`")
        left_out = [name for name in names if not any(name in table for table in self.table_columns)]
        if left_out:
            message = f"Column {left_out[0]!r} is in none of the tables, so that nobody measures it."
            raise refusal("tables", message, "Add a table with it, or leave the column out.", "`publish.tables`")
        if len({frozenset(table) for table in self.table_columns}) < len(self.table_columns):
            message = "`publish.tables` names two tables of the same columns."
            raise refusal("tables", message, "Name each table once.", "`publish.tables`")
        if not 2 <= len(self.table_columns) < MOST_PARTS:
            message = f"Rows are made from 2 to {MOST_PARTS - 1} tables, and there are {len(self.table_columns)}."
            remedy = "Name the tables that matter most as tables."
            if len(self.table_columns) < 2:
                remedy = "Publish the table by itself, and make rows from it by `crowdblend synthesize`."
            raise refusal("tables", message, remedy, "`publish.tables`")

    @cached_property
    def table_columns(self) -> tuple[tuple[str, ...], ...]:
        """The columns of every table."""
        if not self.publication.tables:
            return tuple(combinations((column.name for column in self.columns), 2))
        return tuple(tuple(name.strip() for name in table.split(_TIMES)) for table in self.publication.tables)

    @cached_property
    def programme(self) -> Policy:
        """The tables as a policy of their own, in which each has a part of the budget."""
        below: Literal["suppress", "noise"] = "suppress" if self.sampling.everybody else "noise"
        publish = []
        for number, columns in enumerate(self.table_columns, 1):
            plain = re.sub(r"[^A-Za-z0-9]+", "-", "-".join(columns)).strip("-").lower()
            publish.append(Table(*columns, name=f"{number:02}-{plain}"[:100].rstrip("-"), below_k=below))
        said = {name: getattr(self, name) for name in Terms.__struct_fields__}
        made = Policy(**said, publish=publish, split="budget")
        return made.with_source(self.data) if self.data.format == "frame" else made

    @property
    def file(self) -> str:
        return f"{STEM}.{self.format}"
