"""The step *Data*: a file or table, what it is, who is protected, and whose data they are. Only names show."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crowdblend.front_door.choices import declared_keys, with_design, with_kind
from crowdblend.front_door.schema import source_header, tables_of
from crowdblend.policies.starter import designs_of
from crowdblend.studio.drafts import Draft
from crowdblend.studio.forms import fields_of, prefixed, revision_of
from crowdblend.studio.pages.posting import Sent, posting, see
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import page, step_context, step_page

# These have fields of their own on the page.
_OWN = ("source", "population", "table", "format", "person", "rows_are_people")


def show(request: Request) -> Response:
    """The page of the step; `browse` is the folder whose files are listed."""
    studio: Studio = request.app.state.studio
    draft = studio.drafts.get(request.path_params["draft"])
    browse = request.query_params.get("browse")
    source = draft.choices.text("data", "source")
    if browse is None and not source:
        browse = ""
    keys = declared_keys(draft.choices.kind)
    return step_page(
        request,
        draft,
        "data",
        "data.html",
        browse=browse,
        above=None if not browse else browse.rpartition("/")[0],
        files=None if browse is None else studio.root.listing(browse),
        tables=tables_of(studio.root.existing(source)) if source.lower().endswith((".duckdb", ".ddb")) else (),
        offered=designs_of(draft.choices.kind),
        keys=keys["data"],
        more=fields_of(keys["data"], "data:", draft.choices.sections.get("data", {}), _OWN),
        about=fields_of(keys["about"], "about:", draft.choices.sections.get("about", {})),
    )


def choose(request: Request, sent: Sent) -> Response:
    """Take a file or table: its columns are read from the header or schema, and from nothing else."""
    studio: Studio = request.app.state.studio
    draft = studio.drafts.get(request.path_params["draft"])
    path = sent.get("source", "")
    table = sent.get("table") or None
    found = studio.root.existing(path)
    if path.lower().endswith((".duckdb", ".ddb")) and table is None:
        offered = tables_of(found)
        table = offered[0] if offered else None
    header = source_header(found, table)

    def chosen(draft: Draft) -> Draft:
        texts = {"source": studio.root.relative(found), "table": table or "", "format": header.format or ""}
        choices = draft.choices.with_texts("data", {**texts, "delimiter": header.delimiter or ""})
        known = choices.columns
        choices = replace(choices, columns={name: dict(known.get(name, {})) for name, _ in header.columns})
        if choices.text("data", "person") not in known:
            choices = choices.with_texts("data", {"person": ""})
        return replace(draft, choices=choices, columns=header.columns)

    studio.drafts.change(draft.id, chosen, revision_of(sent))
    return see(f"/drafts/{draft.id}/data")


def save(request: Request, sent: Sent) -> Response:
    """Keep what was chosen, and answer with what is still missing."""
    studio: Studio = request.app.state.studio

    def changed(draft: Draft) -> Draft:
        choices = draft.choices
        if sent.get("kind", choices.kind) != choices.kind:
            choices = with_kind(choices, sent["kind"])
        if sent.get("design", choices.design) != choices.design and sent["design"] in designs_of(choices.kind):
            choices = with_design(choices, sent["design"])
        known = declared_keys(choices.kind)
        for section in ("data", "about"):
            texts = prefixed(sent, f"{section}:")
            choices = choices.with_texts(section, {key: text for key, text in texts.items() if key in known[section]})
        if choices.text("data", "person"):
            choices = choices.with_texts("data", {"rows_are_people": ""})
        return replace(draft, choices=choices)

    before = studio.drafts.get(request.path_params["draft"])
    draft = studio.drafts.change(before.id, changed, revision_of(sent))
    if request.headers.get("hx-request") != "true":
        return see(f"/drafts/{draft.id}/data")
    if (before.choices.kind, before.choices.design) != (draft.choices.kind, draft.choices.design):
        return Response(status_code=204, headers={"HX-Redirect": f"/drafts/{draft.id}/data"})
    return page(request, "fragments/saved.html", **step_context(request, draft, "data"))


ROUTES = [
    Route("/drafts/{draft}/data", show, methods=["GET"]),
    Route("/drafts/{draft}/data", posting(save), methods=["POST"]),
    Route("/drafts/{draft}/source", posting(choose), methods=["POST"]),
]
