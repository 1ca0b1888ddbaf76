"""The step *Data*: a file or table, what it is, who is protected, and whose data they are. Only names show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from starlette.responses import Response

from crowdblend.errors import InvalidInput
from crowdblend.policies.files import format_of
from crowdblend.policies.header import Header, read_header
from crowdblend.policies.proposals import proposed_person
from crowdblend.policies.source import DataSource, is_sqlite
from crowdblend.studio.drafts import Draft
from crowdblend.studio.forms import fields_of, prefixed_fields
from crowdblend.studio.model.choices import with_design
from crowdblend.studio.model.typed_values import typed_text, typed_value
from crowdblend.studio.places import checked_address, database_source, is_address
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import Visit, on_get, on_post
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.sources.engines.databases import local_copy

# These have fields of their own on the page, or are chosen with the source.
_CHOSEN = ("source", "table", "query", "format")
_OWN = (*_CHOSEN, "population", "person", "rows_are_people")
_TABLED = ("duckdb", "sqlite")
_CHOOSABLE = ("folder", "csv", "parquet", *_TABLED)


def show(visit: Visit) -> Response:
    """Return the page of the step; `browse` is the folder whose files are listed."""
    studio, draft = visit.studio, visit.draft
    browse = visit.request.query_params.get("browse")
    source = draft.choices.value("data", "source")
    if browse is None and not source:
        browse = ""
    keys = draft.choices.declared_by_section
    files = [] if browse is None else [one for one in studio.root.listing(browse) if one.what in _CHOOSABLE]
    return visit.step(
        draft,
        "data",
        "data.html",
        browse=browse,
        above=None if not browse else browse.rpartition("/")[0],
        files=files,
        address=source if is_address(source) else "",
        tables=_tables(studio, source),
        keys=keys["data"],
        more=fields_of(keys["data"], "data:", draft.choices.sections.get("data", {}), _OWN),
        about=fields_of(keys["about"], "about:", draft.choices.sections.get("about", {})),
    )


def choose(visit: Visit) -> Response:
    """Take a file, or a table or query of a database: its columns are read from the header or schema alone."""
    names = ("source", "table", "query", "address", "encoding")
    sent = {name: str(typed_value("text", visit.sent.get(name, ""))) for name in names}
    return visit.see(f"/drafts/{visit.change(choose_source(visit.studio, **sent)).id}/data")


def choose_source(
    studio: Studio, source: str, table: str = "", query: str = "", address: str = "", encoding: str = ""
) -> Callable[[Draft], Draft]:
    """Return the change of a draft that takes a source; the column that tells people apart is proposed by its name."""
    source, table, query, header = open_source(studio, source, table, query, address, encoding=encoding or None)
    if (header.format or format_of(source)) != "csv":
        encoding = ""

    def change(draft: Draft) -> Draft:
        given = {"source": source, "table": table, "query": query}
        given |= {"format": header.format or "", "delimiter": header.delimiter or ""}
        texts = {name: text and typed_text("text", text) for name, text in given.items()}
        texts["encoding"] = encoding
        choices = draft.choices.with_texts("data", texts)
        known = choices.columns
        choices = replace(choices, columns={name: dict(known.get(name, {})) for name, _ in header.columns})
        if choices.value("data", "person") not in dict(header.columns):
            person = proposed_person(header.columns)
            numbered = next((name for name, kind in header.columns if kind == "row number"), None)
            chosen = person or numbered
            texts = {
                "person": typed_text("text", chosen) if chosen else "",
                "ids": "table" if not person and numbered else "",
            }
            keys = choices.declared_by_section["data"]
            choices = choices.with_texts("data", {name: text for name, text in texts.items() if name in keys})
        return replace(draft, choices=choices, columns=header.columns)

    return change


def open_source(
    studio: Studio,
    source: str,
    table: str,
    query: str,
    address: str = "",
    delimiter: str | None = None,
    encoding: str | None = None,
) -> tuple[str, str, str, Header]:
    """Return a file under the root, or a table or query at an address, as the policy names it, and its columns."""
    if not address:
        found = studio.root.existing(source)
        table = table or next(iter(tables_of(found)), "")
        return studio.root.relative(found), table, "", file_header(found, table or None, delimiter, encoding)
    address = checked_address(studio.root, address)
    if not table and not query:
        place = database_source(studio.root, address, "x", "").source
        offered = local_copy.tables_of(place, "sqlite" if is_sqlite(address) else "postgres")
        if not offered:
            message = "This database has no table that you may read."
            remedy = "Write a query, or ask for the permission to SELECT."
            raise InvalidInput(message, remedy=remedy, where="address", code="studio.tables")
        table = offered[0]
    return address, table, query, local_copy.header_of(database_source(studio.root, address, table, query))


def file_header(source: Path, table: str | None, delimiter: str | None, encoding: str | None = None) -> Header:
    """Return the columns of CSV or Parquet files, or of a table in a DuckDB or SQLite file."""
    kind = _database_of(source)
    if kind is None:
        return read_header(source, delimiter, encoding)
    if table is None or (kind == "duckdb" and table not in tables_of(source)):
        message = f"{source.name!r} is a database with several tables."
        raise InvalidInput(message, remedy="Choose the table to read.", where="`data.table`", code="init.table")
    return local_copy.header_of(DataSource(str(source), kind, table=table, rows_are_people=True))


def tables_of(source: Path) -> tuple[str, ...]:
    """Return the tables of a DuckDB or SQLite file; none for other files."""
    kind = _database_of(source)
    return () if kind is None else local_copy.tables_of(str(source), kind)


def _database_of(source: Path) -> Literal["duckdb", "sqlite"] | None:
    kind = format_of(source.name) if source.is_file() else None
    return "duckdb" if kind == "duckdb" else "sqlite" if kind == "sqlite" else None


def _tables(studio: Studio, source: str) -> tuple[str, ...]:
    """Return the other tables of a file; a server is asked for its tables only when an address is sent."""
    if not source or is_address(source) or format_of(source) not in _TABLED:
        return ()
    return tables_of(studio.root.existing(source))


def save(visit: Visit) -> Response:
    """Keep what was chosen, and answer with what is still missing."""
    sent, before = visit.sent, visit.draft.choices

    def change(draft: Draft) -> Draft:
        choices = draft.choices
        design = sent.get("design", choices.design)
        if design != choices.design and design in choices.designs:
            choices = with_design(choices, design)
        known = choices.declared_by_section
        for section in ("data", "about"):
            texts = prefixed_fields(sent, f"{section}:")
            kept = {key: text for key, text in texts.items() if key in known[section] and key not in _CHOSEN}
            choices = choices.with_texts(section, kept)
        if choices.text("data", "person"):
            choices = choices.with_texts("data", {"rows_are_people": ""})
        return replace(draft, choices=visit.studio.check_choices(choices))

    draft = visit.change(change)
    here = f"/drafts/{draft.id}/data"
    if not visit.by_script:
        return visit.see(here)
    if before.design != draft.choices.design:
        return visit.load_again(here)
    return visit.step(draft, "data", "fragments/saved.html")


ROUTES = [
    on_get("/drafts/{draft}/data", show),
    on_post("/drafts/{draft}/data", save),
    on_post("/drafts/{draft}/source", choose),
]
