"""The hierarchy of a column as a table that can be edited, made by a rule and checked; it is a file under the root."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from starlette.responses import Response

from crowdblend.errors import InvalidInput
from crowdblend.methods.recoding.hierarchies import hierarchy_text
from crowdblend.studio.drafts import Draft
from crowdblend.studio.model.choices import WAY
from crowdblend.studio.model.hierarchy_files import check_size, checked_rows, group_counts, made_rows, read_rows
from crowdblend.studio.model.typed_values import typed_text, typed_value
from crowdblend.studio.views import Visit, on_get, on_post
from crowdblend.trusted.machine.regular_files import read_regular

_CELL = re.compile(r"cell/(\d{1,4})/(\d{1,2})")
RULES = ("intervals", "prefixes", "order")


def show(visit: Visit) -> Response:
    """Return the table as it is in the file, or with one blank row."""
    draft, place = _column(visit)
    path = _path(draft, place)
    rows = read_rows(visit.studio.root.inside(path))
    given = {"name": draft.names[place], "place": place, "file": path, "rows": rows, "groups": None}
    return visit.step(draft, "columns", "hierarchy.html", **given)


def save(visit: Visit) -> Response:
    """Add a row or a level, make the table by a rule, check it, or save the file and go back to the columns."""
    sent, root = visit.sent, visit.studio.root
    draft, place = _column(visit)
    path = sent.get("path", "") or _path(draft, place)
    rows = _rows(sent)
    groups: list[int] | None = None
    if "add" in sent:
        if sent["add"] in RULES:
            rows = made_rows(sent["add"], sent.get("values", ""), sent)
            groups = group_counts(rows)
        elif sent["add"] == "check":
            groups = group_counts(checked_rows(rows))
        else:
            rows = [*rows, [""] * len(rows[0])] if sent["add"] == "row" else [[*row, ""] for row in rows]
        check_size(len(rows), len(rows[0]))
        given = {"draft": draft, "place": place, "file": path, "rows": rows, "groups": groups}
        return visit.page("fragments/hierarchy_table.html", **given)
    text = hierarchy_text(tuple(map(tuple, checked_rows(rows))))
    if not path.lower().endswith(".csv"):
        raise InvalidInput(
            "A hierarchy is a CSV file.", remedy="Give it a name that ends in .csv.", where="file", code="studio.name"
        )
    _check_replacement(visit, root.inside(path))
    written, name = root.relative(root.write(path, text)), draft.names[place]

    def change(draft: Draft) -> Draft:
        texts = draft.choices.columns.get(name, {})
        level = {} if texts.get("levels") else {"level": texts.get("level") or "1"}
        return replace(
            draft,
            choices=draft.choices.with_column(
                name, {**texts, WAY: "hierarchy", "hierarchy": typed_text("path", written), **level}
            ),
            hierarchies=tuple({*draft.hierarchies, _hash(text.encode())}),
        )

    visit.studio.drafts.change(draft.id, change)
    return visit.see(f"/drafts/{draft.id}/columns#column-{place}")


def _column(visit: Visit) -> tuple[Draft, int]:
    draft = visit.draft
    place = visit.request.path_params["place"]
    if place >= len(draft.names):
        raise InvalidInput(
            "There is no such column.", remedy="Go back to the columns.", where="column", code="studio.no-column"
        )
    return draft, place


def _path(draft: Draft, place: int) -> str:
    """Return the file of the column's hierarchy: the one that it has, or a new one called after it."""
    name = draft.names[place]
    known = draft.choices.columns.get(name, {}).get("hierarchy")
    return (
        str(typed_value("path", known or ""))
        or f"{re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-').lower() or 'column'}-hierarchy.csv"
    )


def _check_replacement(visit: Visit, path: Path) -> None:
    """Refuse to replace a file unless a draft wrote it as it is: it may be the data."""
    try:
        known = not path.exists() or any(
            _hash(read_regular(path)) in draft.hierarchies for draft in visit.studio.drafts.all()
        )
    except OSError:
        known = False
    if not known:
        message = f"{path.name!r} exists, and the studio did not write it."
        raise InvalidInput(message, remedy="Give the hierarchy another name.", where="file", code="output.exists")


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _rows(form: Mapping[str, str]) -> list[list[str]]:
    cells = {
        (int(found[1]), int(found[2])): text
        for name, text in form.items()
        if (found := _CELL.fullmatch(name)) is not None
    }
    if not cells:
        return [["", ""]]
    down, across = (max(place[axis] for place in cells) + 1 for axis in (0, 1))
    check_size(down, across)
    return [[cells.get((row, column), "") for column in range(across)] for row in range(down)]


ROUTES = [
    on_get("/drafts/{draft}/hierarchy/{place:int}", show),
    on_post("/drafts/{draft}/hierarchy/{place:int}", save),
]
