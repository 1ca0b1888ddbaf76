"""The first page: begin a release, or go on with one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crowdblend.errors import InvalidInput
from crowdblend.policies import load_policy
from crowdblend.policies.registry import KINDS, WORDS
from crowdblend.studio.addresses import checked_address, database_source, is_address
from crowdblend.studio.model.choices import choices_of, start
from crowdblend.studio.model.schema import database_header, source_header
from crowdblend.studio.pages.posting import Sent, posting, see
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import page, published

Columns = tuple[tuple[str, str], ...]
WHAT = {kind: words.publishes for kind, words in WORDS.items()}


def home(request: Request) -> Response:
    """What can be begun, and what was begun before."""
    studio: Studio = request.app.state.studio
    policies = [] if studio.read_only else [one for one in studio.root.listing() if one.what == "policy"]
    drafts = studio.drafts.all()
    finished = {draft.id for draft in drafts if published(studio, draft)}
    return page(request, "home.html", drafts=drafts, finished=finished, what=WHAT, policies=policies)


def begin(request: Request, sent: Sent) -> Response:
    """A new draft of a kind, or of a policy file."""
    studio: Studio = request.app.state.studio
    if sent.get("policy"):
        return see(request, f"/drafts/{_opened(studio, sent['policy'])}/data")
    kind = sent.get("kind", "table")
    if kind not in KINDS:
        raise InvalidInput(
            "There is no such kind.", remedy="Choose one of the seven.", where="kind", code="policy.kind"
        )
    return see(request, f"/drafts/{studio.drafts.new(start(kind)).id}/data")


def _opened(studio: Studio, path: str) -> str:
    """A draft of an existing policy, whose paths lie under the root."""
    policy = load_policy(studio.root.existing(path))
    source, columns = _source(studio, policy) if policy.source is not None else ("", ())
    choices = choices_of(policy, tuple(name for name, _ in columns)).with_texts("data", {"source": source})
    studio.checked(choices)
    for name, texts in choices.columns.items():
        if texts.get("hierarchy"):
            inside = studio.root.relative(studio.root.existing(texts["hierarchy"]))
            choices = choices.with_column(name, {**texts, "hierarchy": inside})
    draft = studio.drafts.new(choices, columns)
    named = replace(draft, policy=path, out=Path(path).stem)
    return studio.drafts.change(draft.id, lambda _: named).id


def _source(studio: Studio, policy: Any) -> tuple[str, Columns]:
    """The source of a policy as the studio names it, and its columns."""
    if policy.driver is not None or (policy.query is not None and not is_address(policy.source)):
        raise InvalidInput(
            "The studio opens files under its root, PostgreSQL and SQLite only.",
            remedy="Release this policy with crowdblend release.",
            where="[data] source",
            code="studio.source",
        )
    if is_address(policy.source):
        address = checked_address(studio.root, policy.source)
        data = database_source(studio.root, address, policy.table or "", policy.query or "")
        return address, database_header(data).columns
    found = studio.root.existing(policy.source)
    return studio.root.relative(found), source_header(found, policy.table, policy.delimiter).columns


def forget(request: Request, _: Sent) -> Response:
    """Delete a draft."""
    studio: Studio = request.app.state.studio
    studio.drafts.delete(request.path_params["draft"])
    return see(request, "/")


ROUTES = [
    Route("/", home),
    Route("/drafts", posting(begin), methods=["POST"]),
    Route("/drafts/{draft}/delete", posting(forget), methods=["POST"]),
]
