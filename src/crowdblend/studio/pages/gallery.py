"""Attacks on releases that look safe: each runs when it is asked to."""

from __future__ import annotations

from starlette.responses import Response

from crowdblend.lab.attacks import ATTACKS, attack
from crowdblend.studio.views import Visit, on_get, on_post

RUNS = 500


def show(visit: Visit) -> Response:
    """Return what there is to run."""
    return visit.page("gallery.html", attacks=ATTACKS)


def show_attack(visit: Visit) -> Response:
    """Return one attack: its story, and what came of running it."""
    attacked = attack(visit.request.path_params["name"])
    return visit.page("attack.html", attack=attacked, name=attacked.name, job=visit.job, runs=RUNS)


def run_attack(visit: Visit) -> Response:
    """Run an attack."""
    name = attack(visit.request.path_params["name"]).name
    job = visit.studio.jobs.start("attack", {"name": name, "runs": RUNS})
    return visit.see(f"/gallery/attacks/{name}?job={job}")


ROUTES = [
    on_get("/gallery", show),
    on_get("/gallery/attacks/{name}", show_attack),
    on_post("/gallery/attacks/{name}", run_attack, when_read_only=True),
]
