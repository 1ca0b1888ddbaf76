"""The private check on a page of its own: values and counts of the rows, for the steward alone, kept nowhere."""

from __future__ import annotations

from starlette.responses import Response

from crowdblend.api.private_check import check
from crowdblend.studio.model.wording import in_words
from crowdblend.studio.views import Visit, on_post

# Lines that say what to do speak of fields; all others quote the rows.
_ADVICE = ("  what helps: ", "  ids number the rows")


def show(visit: Visit) -> Response:
    """Hold every row against the declared columns; no job, draft or log has any of the answer."""
    studio, draft = visit.studio, visit.draft
    found = check(None, studio.policy(draft.choices))
    lines = found.describe().splitlines()
    told = [in_words(line) if line.startswith(_ADVICE) else line for line in lines]
    return visit.step(draft, "columns", "check.html", told="\n".join(told), fits=found.fits)


ROUTES = [on_post("/drafts/{draft}/check", show)]
