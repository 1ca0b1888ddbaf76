"""The first page: begin a release, or go on with one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crowdblend.errors import InvalidInput
from crowdblend.front_door.choices import choices_of, start
from crowdblend.front_door.schema import source_header
from crowdblend.policies import load_policy
from crowdblend.policies.registry import KINDS, WORDS
from crowdblend.studio.pages.posting import Sent, posting, see
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import page

WHAT = {kind: words.publishes for kind, words in WORDS.items()}


def home(request: Request) -> Response:
    """What can be begun, and what was begun before."""
    studio: Studio = request.app.state.studio
    policies = [] if studio.read_only else [one for one in studio.root.listing() if one.what == "policy"]
    return page(request, "home.html", drafts=studio.drafts.all(), what=WHAT, policies=policies)


def begin(request: Request, sent: Sent) -> Response:
    """A new draft of a kind, or of a policy file."""
    studio: Studio = request.app.state.studio
    if sent.get("policy"):
        return see(f"/drafts/{_opened(studio, sent['policy'])}/data")
    kind = sent.get("kind", "table")
    if kind not in KINDS:
        raise InvalidInput(
            "There is no such kind.", remedy="Choose one of the seven.", where="kind", code="policy.kind"
        )
    return see(f"/drafts/{studio.drafts.new(start(kind)).id}/data")


def _opened(studio: Studio, path: str) -> str:
    """A draft of an existing policy, whose paths lie under the root."""
    policy = load_policy(studio.root.existing(path))
    columns: tuple[tuple[str, str], ...] = ()
    source = ""
    if policy.source is not None:
        found = studio.root.existing(policy.source)
        source = studio.root.relative(found)
        columns = source_header(found, policy.table, policy.delimiter).columns
    choices = choices_of(policy, tuple(name for name, _ in columns)).with_texts("data", {"source": source})
    for name, texts in choices.columns.items():
        if texts.get("hierarchy"):
            inside = studio.root.relative(studio.root.existing(texts["hierarchy"]))
            choices = choices.with_column(name, {**texts, "hierarchy": inside})
    draft = studio.drafts.new(choices, columns)
    named = replace(draft, policy=path, out=Path(path).stem)
    return studio.drafts.change(draft.id, lambda _: named).id


def forget(request: Request, _: Sent) -> Response:
    """Delete a draft."""
    studio: Studio = request.app.state.studio
    studio.drafts.delete(request.path_params["draft"])
    return see("/")


ROUTES = [
    Route("/", home),
    Route("/drafts", posting(begin), methods=["POST"]),
    Route("/drafts/{draft}/delete", posting(forget), methods=["POST"]),
]
