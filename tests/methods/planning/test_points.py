"""Plans for points: crowds whose members noise makes alike, and the least noise that keeps a guarantee."""

from crowdblend.kinds.points.plan import weakest_noise
from crowdblend.methods.planning.plan import plan
from crowdblend.methods.planning.request import PlanRequest


def test_points_need_smaller_crowds_than_crowds_in_general() -> None:
    found = plan(form="moved", noise_epsilon=1.0, rate=0.1, epsilon=1.0, delta=1e-6)
    assert found.rule == "points.sampled"
    assert found.bounds["shuffled"] == found.k < found.bounds["sharp"] < found.bounds["blending"]


def test_the_weakest_noise_keeps_the_guarantee() -> None:
    found = weakest_noise(PlanRequest(form="moved", k=20, rate=0.1, epsilon=1.0, noise_epsilon=1.0), 1e-6)
    assert found.delta <= 1e-6
    assert found.noise_epsilon is not None
    assert found.noise_epsilon < 2.0
    assert plan(form="moved", k=20, rate=0.1, epsilon=1.0, noise_epsilon=2.0).delta > 1e-6
