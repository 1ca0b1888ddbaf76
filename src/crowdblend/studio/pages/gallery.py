"""Attacks on releases that look safe, and the papers' own tables and figures: each runs when it is asked to."""

from __future__ import annotations

from collections.abc import Collection

from starlette.responses import Response

from crowdblend.attacks import ATTACKS, attack
from crowdblend.errors import InvalidInput
from crowdblend.papers import REPRODUCTIONS
from crowdblend.studio.views import Visit, on_get, on_post

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


def show(visit: Visit) -> Response:
    """Return what there is to run."""
    return visit.page("gallery.html", attacks=ATTACKS, papers={name: PAPERS.get(name, "") for name in REPRODUCTIONS})


def show_attack(visit: Visit) -> Response:
    """Return one attack: its story, and what came of running it."""
    attacked = attack(_known_name(visit, ATTACKS))
    return visit.page("attack.html", attack=attacked, name=attacked.name, job=visit.job, runs=RUNS)


def run_attack(visit: Visit) -> Response:
    """Run an attack."""
    name = _known_name(visit, ATTACKS)
    job = visit.studio.jobs.start("attack", {"name": name, "runs": RUNS})
    return visit.see(f"/gallery/attacks/{name}?job={job}")


def show_paper(visit: Visit) -> Response:
    """Return one table or figure of a paper."""
    name = _known_name(visit, REPRODUCTIONS)
    return visit.page("paper.html", name=name, about=PAPERS.get(name, ""), job=visit.job)


def run_paper(visit: Visit) -> Response:
    """Compute it again."""
    name = _known_name(visit, REPRODUCTIONS)
    return visit.see(f"/gallery/papers/{name}?job={visit.studio.jobs.start('paper', {'name': name})}")


def _known_name(visit: Visit, names: Collection[str]) -> str:
    name = str(visit.request.path_params["name"])
    if name not in names:
        raise InvalidInput(
            "There is nothing of that name.", remedy="Choose from the gallery.", where="name", code="studio.no-name"
        )
    return name


ROUTES = [
    on_get("/gallery", show),
    on_get("/gallery/attacks/{name}", show_attack),
    on_post("/gallery/attacks/{name}", run_attack, when_read_only=True),
    on_get("/gallery/papers/{name}", show_paper),
    on_post("/gallery/papers/{name}", run_paper, when_read_only=True),
]
