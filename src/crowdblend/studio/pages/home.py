"""The first page: begin a release, or go on with one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from starlette.responses import Response

from crowdblend.errors import InvalidInput
from crowdblend.policies import load_policy
from crowdblend.policies.registry import WORDS
from crowdblend.policies.terms import Terms
from crowdblend.studio.addresses import is_address
from crowdblend.studio.model.choices import choices_of, start
from crowdblend.studio.pages.data import open_source
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import Visit, on_get, on_post

Columns = tuple[tuple[str, str], ...]
WHAT = {kind: words.publishes for kind, words in WORDS.items()}


def home(visit: Visit) -> Response:
    """Return what can be begun, and what was begun before."""
    studio = visit.studio
    policies = [] if studio.read_only else [one for one in studio.root.listing() if one.what == "policy"]
    drafts = studio.drafts.all()
    finished = {draft.id for draft in drafts if studio.published(draft)}
    return visit.page("home.html", drafts=drafts, finished=finished, what=WHAT, policies=policies)


def begin(visit: Visit) -> Response:
    """Return a new draft of a kind, or of a policy file."""
    if path := visit.sent.get("policy"):
        return visit.see(f"/drafts/{_opened(visit.studio, path)}/data")
    draft = visit.studio.drafts.new(start(visit.sent.get("kind", "table")))
    return visit.see(f"/drafts/{draft.id}/data")


def _opened(studio: Studio, path: str) -> str:
    """Return a draft of an existing policy, whose paths lie under the root."""
    policy = load_policy(studio.root.existing(path))
    source, columns = _source(studio, policy.terms) if policy.terms.source is not None else ("", ())
    choices = choices_of(policy, [name for name, _ in columns]).with_texts("data", {"source": source})
    studio.checked(choices)
    for name, texts in choices.columns.items():
        if texts.get("hierarchy"):
            inside = studio.root.relative(studio.root.existing(texts["hierarchy"]))
            choices = choices.with_column(name, {**texts, "hierarchy": inside})
    draft = studio.drafts.new(choices, columns)
    named = replace(draft, policy=path, out=Path(path).stem)
    return studio.drafts.change(draft.id, lambda _: named).id


def _source(studio: Studio, terms: Terms) -> tuple[str, Columns]:
    """Return the source of a policy as the studio names it, and its columns."""
    source = terms.source or ""
    if terms.query is not None and not is_address(source):
        message = "The studio opens files under its root, PostgreSQL and SQLite only."
        remedy = "Release this policy with crowdblend release."
        raise InvalidInput(message, remedy=remedy, where="[data] source", code="studio.source")
    given = {"source": source, "table": terms.table or "", "query": terms.query or ""}
    named, *_, header = open_source(
        studio, **given, address=source if is_address(source) else "", delimiter=terms.delimiter
    )
    return named, header.columns


def forget(visit: Visit) -> Response:
    """Delete a draft."""
    visit.studio.drafts.delete(visit.request.path_params["draft"])
    return visit.see("/")


ROUTES = [
    on_get("/", home),
    on_post("/drafts", begin),
    on_post("/drafts/{draft}/delete", forget),
]
