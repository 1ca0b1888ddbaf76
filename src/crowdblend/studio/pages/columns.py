"""The step *Columns*: how each column becomes classes, with a picture of them. Nothing is read off the data."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from starlette.responses import Response

from crowdblend.errors import InvalidInput
from crowdblend.policies.code_book import read_code_book
from crowdblend.studio.drafts import Draft
from crowdblend.studio.forms import WAY_NAMES, fields_of, prefixed_fields
from crowdblend.studio.model.choices import WAY, column_of
from crowdblend.studio.model.hierarchy_files import group_counts, hierarchy_files, read_rows
from crowdblend.studio.model.readiness import READY, column_status
from crowdblend.studio.model.typed_values import typed_text, typed_value
from crowdblend.studio.model.wording import PAGES
from crowdblend.studio.pages import proposals
from crowdblend.studio.pictures import picture_of
from crowdblend.studio.places import ListedPath, check_named
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import Visit, on_get, on_post
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.sources.checking import reading

_AXIS = "an axis"
# Lines of a check that say what to do speak of fields; all others quote the rows.


def show(visit: Visit) -> Response:
    """Return every column of the data, with its status."""
    studio, draft = visit.studio, visit.draft
    person = draft.choices.value("data", "person")
    described = [_column_context(studio, draft, place) for place, name in enumerate(draft.names) if name != person]
    fitting = hierarchy_files(draft.names, [one.path for one in _tables(studio, draft)])
    return visit.step(
        draft,
        "columns",
        "columns.html",
        columns=described,
        files=_tables(studio, draft),
        fitting=fitting,
        proposals=proposals.describe_proposals(studio, draft),
    )


def save(visit: Visit) -> Response:
    """Keep the domain of one column, and answer with that column."""
    sent, studio, draft = visit.sent, visit.studio, visit.draft
    place = int(sent["place"]) if sent.get("place", "").isdecimal() and len(sent["place"]) < 6 else len(draft.names)
    if place >= len(draft.names):
        raise InvalidInput(
            "There is no such column.", remedy="Reload the page.", where="column", code="studio.no-column"
        )
    name = draft.names[place]
    way = sent.get("way", "")
    keys = draft.choices.ways(name).get(way, {})
    texts = {key: text for key, text in prefixed_fields(sent, "key:").items() if key in keys}
    if texts.get("hierarchy"):
        path = str(typed_value("path", texts["hierarchy"]))
        studio.root.inside(path)
        texts["hierarchy"] = typed_text("path", path)

    def change(draft: Draft) -> Draft:
        before = draft.choices.columns.get(name, {})
        # What was typed for another way is kept as long as this one has the key.
        other = before.get(WAY) != way
        kept = {key: text for key, text in before.items() if key in keys} if other else {}
        if (
            other
            and not any(texts.values())
            and "whole" in keys
            and dict(draft.columns)[name] in ("whole", "row number")
        ):
            kept["whole"] = "true"
        return replace(
            draft, choices=studio.check_choices(draft.choices.with_column(name, {**kept, **texts, WAY: way}))
        )

    before = draft.choices.columns.get(name, {}).get(WAY)
    draft = visit.change(change)
    if not visit.by_script:
        return visit.see(f"/drafts/{draft.id}/columns")
    # Fields stay as they are while someone types; another way has other fields.
    whole = before != draft.choices.columns.get(name, {}).get(WAY)
    column = _column_context(studio, draft, place, opened=True)
    answer = visit.step(draft, "columns", "fragments/column_saved.html", column=column, whole=whole)
    if whole:
        answer.headers["HX-Retarget"] = f"#column-{place}"
    return answer


def check_rows(visit: Visit) -> Response:
    """Check every row against the declared columns, for the steward alone; no job, draft or log has the answer."""
    studio, draft = visit.studio, visit.draft
    terms = studio.terms(draft.choices)
    found = reading.check_terms(terms, terms.data)
    return visit.step(draft, "columns", "check.html", told=found.describe(PAGES), fits=found.fits)


def from_hierarchies(visit: Visit) -> Response:
    """Take the files that are called after columns as their hierarchies, each at a level with several groups."""
    studio = visit.studio
    found = hierarchy_files(visit.draft.names, [one.path for one in _tables(studio, visit.draft)])

    def change(draft: Draft) -> Draft:
        choices = draft.choices
        for name, path in found.items():
            # A level at which all values are one group would publish nothing of the column.
            groups = group_counts(read_rows(studio.root.existing(path)))
            level = "1" if len(groups) > 1 and groups[1] > 1 else "0"
            choices = choices.with_column(
                name, {WAY: "hierarchy", "hierarchy": typed_text("path", path), "level": level}
            )
        return replace(draft, choices=choices)

    return visit.see(f"/drafts/{visit.change(change).id}/columns")


def _tables(studio: Studio, draft: Draft) -> list[ListedPath]:
    """Return the CSV files beside the data."""
    source = draft.choices.value("data", "source")
    return [one for one in studio.root.listing() if one.what == "csv" and one.path != source]


def from_code_book(visit: Visit) -> Response:
    """Take the listed values of a code book for the columns that it names."""
    root = visit.studio.root
    entries = read_code_book(root.existing(visit.sent.get("book", "")), check=partial(check_named, root))
    book = {name: entry.values for name, entry in entries.items() if entry.values}

    def change(draft: Draft) -> Draft:
        choices = draft.choices
        for name, values in book.items():
            if name in draft.names and name != choices.value("data", "person"):
                choices = choices.with_column(name, {WAY: "values", "values": typed_text("texts", values)})
        return replace(draft, choices=choices)

    return visit.see(f"/drafts/{visit.change(change).id}/columns")


def _column_context(studio: Studio, draft: Draft, place: int, *, opened: bool = False) -> dict[str, object]:
    """Return what the page shows of a column."""
    name, kind = draft.columns[place]
    choices, folder = draft.choices, studio.root.folder
    texts = choices.columns.get(name, {})
    status, refused = column_status(choices, name, folder)
    ways = choices.ways(name)
    way = texts.get(WAY, "")
    keys = ways.get(way, {})
    main = [key for key in keys if keys[key].required or key in ("level", "from", "to", "width", "whole")]
    fields = fields_of(keys, "key:", texts)
    if way == "hierarchy":  # its file is chosen among those that are there
        listed = [typed_text("path", one.path) for one in _tables(studio, draft)]
        paths = {path: path for path in (texts.get("hierarchy"), *listed) if path}
        fields = [
            replace(one, input="choice", choices=paths) if paths and one.key == "hierarchy" else one for one in fields
        ]
    return {
        "place": place,
        "name": name,
        "kind": kind,
        "way": way,
        "ways": {one: _AXIS if one == "resolution" and choices.is_axis(name) else WAY_NAMES[one] for one in ways},
        "status": status,
        "why": None if refused is None else str(refused.in_notation(None)),
        "needed": [field.label for field in fields if field.required and not field.value.strip()],
        "fields": [field for field in fields if field.name[4:] in main],
        "more": [field for field in fields if field.name[4:] not in main],
        "picture": picture_of(column_of(choices, name, folder)) if status == READY else None,
        "opened": opened,
    }


ROUTES = [
    on_get("/drafts/{draft}/columns", show),
    on_post("/drafts/{draft}/columns", save),
    on_post("/drafts/{draft}/check", check_rows),
    on_post("/drafts/{draft}/hierarchies", from_hierarchies),
    on_post("/drafts/{draft}/code-book", from_code_book),
]
