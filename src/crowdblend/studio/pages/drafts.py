"""The first page, and drafts as a whole: begun with a file or a town, renamed, copied, undone, deleted."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.policies.domains import HierarchyDomain
from crowdblend.policies.files import format_of
from crowdblend.policies.load import load_policy
from crowdblend.policies.policy import Policy
from crowdblend.studio.forms import WHAT, revision_of
from crowdblend.studio.model.choices import choices_of, start
from crowdblend.studio.model.typed_values import typed_text
from crowdblend.studio.model.unsaid import refuse_unsaid
from crowdblend.studio.pages.data import choose_source, open_source
from crowdblend.studio.places import load_policy_inside
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import STEPS, Visit, on_get, on_post
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.lab import demo

TOWN = "made-up-town.parquet"
# As the first release of the documentation calls the same people: two names for them would be refused.
TOWN_PEOPLE = "town"
_LONGEST_NAME, _LONGEST_FILE = 120, 200
_YEAR = re.compile(r"(19|20)\d\d")


def home(visit: Visit) -> Response:
    """Return what can be begun, and what was begun before."""
    studio = visit.studio
    policies = [] if studio.read_only else [one for one in studio.root.listing() if one.what == "policy"]
    drafts = studio.drafts.all()
    finished = {draft.id for draft in drafts if studio.published(draft)}
    return visit.page("home.html", drafts=drafts, finished=finished, what=WHAT, policies=policies)


def begin(visit: Visit) -> Response:
    """Return a new draft: of a kind, of a policy file, or about a made-up town."""
    sent, studio = visit.sent, visit.studio
    if path := sent.get("policy"):
        return visit.see(f"/drafts/{_open_policy(studio, path)}/data")
    if sent.get("town"):
        return visit.see(f"/drafts/{_about_the_town(studio)}/data")
    return visit.see(f"/drafts/{studio.drafts.new(start(sent.get('kind', 'table'))).id}/data")


def _about_the_town(studio: Studio) -> str:
    """Return a draft about people who do not exist, in which everything is chosen."""
    place = studio.root.folder / TOWN
    if not place.exists():
        demo.write_population(place)
    source, *_, header = open_source(studio, TOWN, "", "")
    choices = choices_of(
        load_policy(Path(demo.__file__).parent / "town-table.toml"), [name for name, _ in header.columns]
    )
    texts = {"source": source, "population": TOWN_PEOPLE}
    return studio.drafts.new(choices.with_texts("data", texts), header.columns).id


def _open_policy(studio: Studio, path: str) -> str:
    """Return a draft of an existing policy, whose paths lie under the root."""
    policy = load_policy_inside(studio.root, path)
    source, columns = _source(studio, policy) if policy.terms.source is not None else ("", ())
    choices = choices_of(policy, [name for name, _ in columns])
    choices = choices.with_texts("data", {"source": source and typed_text("path", source)})
    for column in policy.columns:
        if isinstance(column.domain, HierarchyDomain):
            inside = typed_text("path", studio.root.relative_name(column.domain.hierarchy))
            choices = choices.with_column(column.name, {**choices.columns[column.name], "hierarchy": inside})
    refuse_unsaid(policy, studio.check_choices(choices), studio.root.folder)
    draft = studio.drafts.new(choices, columns)
    named = replace(draft, policy=path, out=Path(path).stem)
    return studio.drafts.change(draft.id, lambda _: named).id


def _source(studio: Studio, policy: Policy) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the source of a policy as the studio names it, and its columns."""
    terms = policy.terms
    source = terms.source or ""
    address = "://" in source
    if terms.query is not None and not address:
        message = "The studio opens files under its root, PostgreSQL and SQLite only."
        remedy = "Release this policy with `crowdblend release`."
        raise InvalidInput(message, remedy=remedy, where="`data.source`", code="studio.source")
    given = {"source": source, "table": terms.table or "", "query": terms.query or ""}
    at = source if address else ""
    named, *_, header = open_source(studio, **given, address=at, delimiter=terms.delimiter, encoding=terms.encoding)
    return named if address else studio.root.relative_name(source), header.columns


async def upload(request: Request) -> Response:
    """Copy a file of the steward's into the root, and choose it: for a new draft, or for the one that is named."""
    visit = Visit(request)
    studio, query = visit.studio, request.query_params
    try:
        studio.refuse_when_read_only()
        draft = studio.drafts.get(query["draft"]) if "draft" in query else None
        name = Path(query.get("name", "").replace("\\", "/")).name
        if format_of(name) is None or not name.isprintable() or len(name.encode()) > _LONGEST_FILE:
            message = f"{name[:80]!r} is not a kind of file that can be read."
            remedy = "Take a CSV or Parquet file. Save a workbook as CSV UTF-8 first."
            raise InvalidInput(message, remedy=remedy, where="file", code="studio.upload")
        with studio.root.receiving() as file:
            async for piece in request.stream():
                await run_in_threadpool(file.write, piece)
        before = {one.name for one in studio.root.folder.iterdir()}
        source = await run_in_threadpool(studio.root.keep, Path(file.name), name)
        try:
            change = await run_in_threadpool(choose_source, studio, source, encoding=query.get("encoding", ""))
        except CrowdblendError:
            if source not in before:  # what cannot be read does not stay, unless it was there
                studio.root.inside(source).unlink(missing_ok=True)
            raise
        draft = draft or studio.drafts.new(start(query.get("kind", "table")))
        await run_in_threadpool(studio.drafts.change, draft.id, change)
    except ClientDisconnect:
        return Response(status_code=400)
    except CrowdblendError as refused:
        return visit.error_page(refused)
    return visit.load_again(f"/drafts/{draft.id}/data")


def rename(visit: Visit) -> Response:
    """Call a draft by another name."""
    name = " ".join(visit.sent.get("name", "").split())[:_LONGEST_NAME]
    visit.change(lambda draft: replace(draft, name=name))
    return visit.see("/")


def duplicate(visit: Visit) -> Response:
    """Begin another draft with the same choices."""
    draft = visit.draft
    return visit.see(f"/drafts/{visit.studio.drafts.copy(draft.id, f'{draft.title}, copy'[:_LONGEST_NAME]).id}/data")


def following_period(visit: Visit) -> Response:
    """Begin the draft of the next period: the same choices, with every year in what readers are told one later."""
    draft = visit.draft

    def a_year_later(text: str) -> str:
        return _YEAR.sub(lambda found: str(int(found[0]) + 1), text)

    about = {name: a_year_later(draft.choices.text("about", name)) for name in ("title", "period")}
    name = a_year_later(draft.title)
    name = name if name != draft.title else f"{draft.title}, next period"
    choices = draft.choices.with_texts("about", about)
    made = visit.studio.drafts.copy(draft.id, name[:_LONGEST_NAME], choices)
    return visit.see(f"/drafts/{made.id}/data?browse=")


def undo(visit: Visit) -> Response:
    """Take the last change back, and show the step that it was seen from."""
    draft = visit.studio.drafts.undo(visit.request.path_params["draft"], revision_of(visit.sent))
    step = visit.sent.get("step", "")
    return visit.see(f"/drafts/{draft.id}/{step if step in STEPS else 'data'}")


def forget(visit: Visit) -> Response:
    """Delete a draft."""
    visit.studio.drafts.delete(visit.request.path_params["draft"])
    return visit.see("/")


ROUTES = [
    on_get("/", home),
    on_post("/drafts", begin),
    Route("/upload", upload, methods=["POST"]),
    on_post("/drafts/{draft}/name", rename),
    on_post("/drafts/{draft}/copy", duplicate),
    on_post("/drafts/{draft}/next", following_period),
    on_post("/drafts/{draft}/undo", undo),
    on_post("/drafts/{draft}/delete", forget),
]
