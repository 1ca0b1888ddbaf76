"""Attacks on releases that look safe, and the papers' own tables and figures: each runs when it is asked to."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crowdblend.attacks import ATTACKS, attack
from crowdblend.errors import InvalidInput
from crowdblend.papers import REPRODUCTIONS
from crowdblend.studio.jobs import Job
from crowdblend.studio.pages.posting import Sent, posting, see
from crowdblend.studio.studio import Studio
from crowdblend.studio.views import page

RUNS = 500
PAPERS = {
    "lqs-table1": "What sampling makes of two differentially private mechanisms.",
    "lqs-table2": "δ at k = 20, for three sampling rates and six ε.",
    "lqs-figure2": "1/δ against ε for k from 5 to 50, at rate 0.2.",
    "lqs-figure3": "1/δ against ε for rates from 0.05 to 0.4, at k = 20.",
    "lqs-figure4": "How much larger k must be when the rate doubles.",
    "lqs-figure5": "Very small k at a very small rate, 0.025.",
    "lqs-figure6": "The smallest ε that each k satisfies at δ ≤ 1e-6.",
    "cbp-proposition12": "The first point of a table: crowd-blending keeps it, differential privacy cannot.",
    "zkp-politics": "A differentially private release that tells how people vote.",
}


def show(request: Request) -> Response:
    """What there is to run."""
    return page(request, "gallery.html", attacks=ATTACKS, papers={name: PAPERS.get(name, "") for name in REPRODUCTIONS})


def show_attack(request: Request) -> Response:
    """One attack: its story, and what came of running it."""
    attacked = attack(_known(request, ATTACKS))
    return page(request, "attack.html", attack=attacked, name=attacked.name, job=_job(request), runs=RUNS)


def run_attack(request: Request, _: Sent) -> Response:
    """Run an attack."""
    studio: Studio = request.app.state.studio
    name = _known(request, ATTACKS)
    return see(request, f"/gallery/attacks/{name}?job={studio.jobs.start('attack', {'name': name, 'runs': RUNS})}")


def show_paper(request: Request) -> Response:
    """One table or figure of a paper."""
    name = _known(request, REPRODUCTIONS)
    return page(request, "paper.html", name=name, about=PAPERS.get(name, ""), job=_job(request))


def run_paper(request: Request, _: Sent) -> Response:
    """Compute it again."""
    studio: Studio = request.app.state.studio
    name = _known(request, REPRODUCTIONS)
    return see(request, f"/gallery/papers/{name}?job={studio.jobs.start('paper', {'name': name})}")


def _known(request: Request, names: object) -> str:
    name = str(request.path_params["name"])
    if name not in names:  # type: ignore[operator]
        raise InvalidInput(
            "There is nothing of that name.", remedy="Choose from the gallery.", where="name", code="studio.no-name"
        )
    return name


def _job(request: Request) -> Job | None:
    studio: Studio = request.app.state.studio
    number = request.query_params.get("job")
    return studio.jobs.get(number) if number else None


ROUTES = [
    Route("/gallery", show),
    Route("/gallery/attacks/{name}", show_attack, methods=["GET"]),
    Route("/gallery/attacks/{name}", posting(run_attack, when_read_only=True), methods=["POST"]),
    Route("/gallery/papers/{name}", show_paper, methods=["GET"]),
    Route("/gallery/papers/{name}", posting(run_paper, when_read_only=True), methods=["POST"]),
]
