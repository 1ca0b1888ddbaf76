"""Issue certificates of every kind with this version: `python -m tests.data.certificates.issue FOLDER`.

The files beside this one were issued so by the versions that wrote their formats. They are never written anew: whatever
was issued must verify for ever.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crowdblend import plan
from crowdblend.calculus import RULES, Assumption, Certificate, Derivation, compose
from crowdblend.calculus.groups import derived_for_group
from crowdblend.kinds import plan as plan_release
from crowdblend.policies import parse_policy
from tests.kinds.towns import DISTRICTS, DRAWN, POLICY, SPLIT

ROOT = Path(__file__).parents[3]
FILES = {"data.parquet": "0" * 64}
SHARES = (0.7, 0.2, 0.1)
FIRST = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    """The policy that a page begins with."""
    found = FIRST.search((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"))
    assert found
    return found[1]


def swapped(text: str, *swaps: tuple[str, str]) -> str:
    """A policy with some texts swapped."""
    for old, new in swaps:
        assert old in text, old
        text = text.replace(old, new)
    return text


def policies() -> Iterator[tuple[str, str]]:
    """A policy for every kind, and for what changes the derivation within a kind."""
    table, points, outliers = page("release"), page("points"), page("outliers")
    statistics, synopsis, graph = page("statistics"), page("synopsis"), page("graphs")
    yield "table", table
    yield "table-tables", table + '\n[[tables]]\nname = "by-age"\ncolumns = ["age"]\n'
    parts = "".join(
        f'\n[[tables]]\nname = "t{at}"\ncolumns = ["age"]\nshare = {share}\n' for at, share in enumerate(SHARES)
    )
    yield "table-parts", table + parts
    everybody = swapped(table, ("rate = 0.5", "everybody = true"), ("delta = 1e-6", ""))
    yield "table-register", everybody
    yield "table-register-rows", swapped(everybody, ('"person_id"', '"person_id"\nrows_per_person = 3'))
    surveys = page("surveys")
    yield "table-strata", surveys
    yield "table-strata-noise", swapped(surveys, ('kind = "table"', 'kind = "table"\nbelow_k = "noise"'))
    yield "microdata-strata", swapped(surveys, ('kind = "table"', 'kind = "microdata"'))
    weighted = swapped(surveys, ('stratum = "region"', 'already_drawn = true\nweight = "weight"'))
    weighted = swapped(weighted, ("rates = { north = 0.05, south = 0.1, west = 0.5 }", ""))
    yield (
        "table-weights",
        swapped(
            weighted, ('region = { values = ["north", "south", "west"] }', "weight = { breaks = [100, 200, 500] }")
        ),
    )
    yield "table-already-drawn", swapped(table, ("rate = 0.5", "rate = 0.5\nalready_drawn = true"))
    yield "table-rows-are-people", swapped(table, ('person = "person_id"', "rows_are_people = true"))
    yield "table-noise", swapped(table, ("epsilon = 1.0", 'below_k = "noise"\nepsilon = 1.0'))
    yield "table-noise-flag", swapped(table, ("epsilon = 1.0", 'below_k = "noise"\nflag = true\nepsilon = 1.0'))
    yield (
        "table-biased",
        swapped(
            table,
            ("rate = 0.5", "low = 0.08\nhigh = 0.12\nexceptions = 3\nmax_rate = 0.2\nalready_drawn = true"),
        ),
    )
    yield "microdata", swapped(table, ('"table"', '"microdata"'))
    yield "table-choice-population", POLICY
    yield "table-choice-split", SPLIT
    yield "table-choice-drawn", DRAWN
    yield (
        "table-choice-steps",
        swapped(POLICY, ("epsilon = 0.1", 'epsilon = 0.1\nsearch = "steps"\nsteps = 6\nshow_epsilon = 0.2')),
    )
    for score in ("published", "discernibility", "entropy"):
        yield f"table-choice-{score}", swapped(POLICY, ("epsilon = 0.1", f'epsilon = 0.1\nscore = "{score}"'))
    yield "points", points
    yield "points-given-noise", swapped(points, ("k = 20\n", "k = 20\nnoise_epsilon = 0.5\n"), ("delta = 1e-6", ""))
    yield "outlier-table", outliers
    yield "outlier-table-sampled", swapped(outliers, ("[columns]", "[sampling]\nrate = 0.1\n\n[columns]"))
    yield "statistics-group", statistics
    yield "statistics-small-sample", swapped(statistics, ("sample = 10000", "sample = 999000"))
    yield "synopsis", synopsis
    yield (
        "synopsis-exponential",
        swapped(
            synopsis,
            ("conjunctions = 3", 'mechanism = "exponential"\nconjunctions = 1'),
            ('education = { hierarchy = "education.csv", level = 1 }\n', ""),
        ),
    )
    yield "graph", graph
    small = (("degree_bound = 50 ", "degree_bound = 4 "), ("average_bound = 10 ", "average_bound = 4 "))
    yield (
        "graph-published",
        swapped(
            graph,
            *small,
            ("samples = 1000 ", "accuracy = 0.02\nfailure_exponent = 25 "),
            ("error = 1.0 ", "accuracy = 0.05\nfailure_exponent = 60 "),
            ("epsilon = 1.5 ", "epsilon = 4.0 "),
        ),
    )
    more = '[[graph.statistics]]\nname = "{}"\nsamples = 5000\n\n'
    yield (
        "graph-more",
        swapped(
            graph,
            *small,
            ("[release]", more.format("cycle-freeness") + more.format("eulerian") + "[release]"),
            ("epsilon = 1.5 ", "epsilon = 8.0 "),
        ),
    )
    people = (
        '[[graph.statistics]]\nname = "average"\ncolumn = "age"\nfrom = 10\nto = 100\nsamples = 400\n\n'
        '[[graph.statistics]]\nname = "histogram"\ncolumn = "colour"\nvalues = ["red"]\nother = "x"\nsamples = 900\n\n'
    )
    yield (
        "graph-people",
        swapped(
            graph,
            *small,
            ('target = "target"', 'target = "target"\nvertices = "people.parquet"\nvertex = "who"'),
            ("[release]", people + "[release]"),
            ("epsilon = 1.5 ", "epsilon = 8.0 "),
        ),
    )


def derivations() -> Iterator[tuple[str, tuple[Derivation, ...]]]:
    """Derivations that no kind of release uses today."""
    crowds = RULES["histogram.suppressed"](k=20)
    noisy = RULES["histogram.laplace"](noise_epsilon=0.2)
    sampled = RULES["suppression.exact"](crowds, rate=0.1, epsilon=0.5)
    released = RULES["dps.differential"](sampled)
    relative = RULES["dps.zero-knowledge"](sampled)
    swapping = RULES["differential.replace"](noisy)
    yield "lower-rate", (RULES["dps.differential"](RULES["dps.lower-rate"](sampled, rate=0.05)),)
    yield "postprocessed", (RULES["dps.differential"](RULES["dps.postprocessing"](sampled)),)
    yield "explicit", (RULES["dps.differential"](RULES["blending.closed-form"](crowds, rate=0.1)),)
    yield "beside-noise", (RULES["blending.sharp"](compose(crowds, noisy), rate=0.1, epsilon=1.0),)
    yield "noise-blends", (RULES["blending.postprocessing"](RULES["blending.differential"](noisy, k=20)),)
    yield "releases", (compose(released, released, released), compose(relative, relative, relative))
    yield (
        "choice-differential",
        (
            RULES["choice.differential"](
                released,
                RULES["dps.differential"](RULES["suppression.published"](crowds, rate=0.1, epsilon=0.5)),
            ),
        ),
    )
    yield (
        "choice-zero-knowledge",
        (
            RULES["choice.zero-knowledge"](
                relative,
                RULES["dps.zero-knowledge"](RULES["blending.explicit"](crowds, rate=0.1, epsilon=0.5)),
            ),
        ),
    )
    yield "group", (RULES["differential.group"](released, people=3),)
    for form in ("plain", "doubled", "linear", "sharp", "differential"):
        yield f"sanitize-{form}", (RULES[f"sample-and-sanitize.{form}"](swapping, samples=100, population=1000),)
    everybody = RULES["laplace.everybody"](sensitivity=0.1, scale=1.0, population=50)
    yield (
        "laplace-everybody",
        (everybody, derived_for_group(everybody, 4), RULES["zero-knowledge.differential"](everybody)),
    )
    yield "everybody-relative", (RULES["differential.zero-knowledge"](swapping, population=1000),)
    average = RULES["sampler.average"](samples=400, population=9000, accuracy=0.1, width=1.5)
    yield "laplace-samples", (RULES["laplace.random-samples"](average, scale=0.5),)
    yield "laplace-complexity", (RULES["laplace.sample-complexity"](average, sensitivity=0.01, scale=0.5),)
    walked = {"degree_bound": 5, "accuracy": 0.2, "samples": 400, "explored": 20}
    for name in ("connected", "cycle-free", "eulerian"):
        yield (
            f"graph-{name}",
            (RULES[f"graph.{name}"](RULES[f"graph.sampler.{name}"](**walked), population=1000, scale=0.2),),
        )
    degrees = RULES["graph.sampler.average-degree"](degree_bound=5, accuracy=0.3, samples=600)
    light = RULES["graph.sampler.light-ends"](
        degree_bound=50, average_bound=4.0, population=1000, accuracy=0.3, samples=60_000
    )
    yield "graph-degree", (RULES["graph.average-degree"](degrees, degree_bound=5, population=1000, scale=0.9),)
    yield (
        "graph-light-ends",
        (RULES["graph.published.degree"](light, degree_bound=50, population=1000, scale=0.9, resolution=0.001),),
    )
    totals = RULES["totals.together"](
        RULES["totals.sum"](grid_steps=100, noise_epsilon=1e-6), RULES["totals.histogram"](bins=12, noise_epsilon=1e-5)
    )
    seen = RULES["totals.zero-knowledge"](totals, samples=400, population=9000)
    drawn = RULES["sample-and-sanitize.sharp"](
        RULES["totals.differential"](RULES["totals.sum"](grid_steps=1, noise_epsilon=0.3)), samples=400, population=9000
    )
    both = RULES["composition.random-samples"](seen, drawn)
    yield "totals", (both, RULES["zero-knowledge.group-distance"](both, people=3))
    sampler = RULES["queries.vc-accuracy"](samples=5000, dimension=3, failure=0.05)
    answers = RULES["synopsis.counts-useful"](samples=5000, queries=40, addends=3, noise_epsilon=0.05, failure=0.05)
    counts = RULES["synopsis.counts"](noise_epsilon=0.05, sensitivity=8.0)
    yield (
        "noisy-answers",
        (
            RULES["sample-and-sanitize.sharp"](counts, samples=5000, population=90_000),
            RULES["queries.useful"](sampler, answers, lipschitz=1.0),
        ),
    )
    accurate = RULES["laplace.accurate"](scale=1.0, failure=0.1)
    estimated = RULES["zero-knowledge.sampler"](everybody, accurate, width=3.0)
    yield "sampler", (RULES["laplace.sample-complexity"](estimated, sensitivity=0.1, scale=2.0),)
    rows = RULES["suppression.exact"](RULES["generalization.suppressed"](k=20), rate=0.1, epsilon=0.5)
    yield "random-choice", (RULES["dps.differential"](RULES["dps.random-choice"](sampled, rows, weight=0.3)),)
    yield "both", (RULES["composition.blending-differential-both"](crowds, noisy, swapping),)
    few = RULES["graph.estimator.light-ends"](degree_bound=5000, average_bound=4.0, population=9000, samples=8000)
    yield (
        "graph-few-links",
        (RULES["graph.sharp.degree"](few, degree_bound=5000, population=9000, scale=2.5, resolution=0.001),),
    )
    for stated in ({"epsilon": 0.5, "delta": 1e-7},):
        leaf = RULES["opendp.measurement"](**stated)
        yield (
            "measurement",
            tuple(
                RULES[f"sample-and-sanitize.{form}"](leaf, samples=100, population=1000)
                for form in ("sharp", "differential")
            ),
        )


def certificates() -> Iterator[tuple[str, Certificate]]:
    """Everything that is issued, by name."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "education.csv").write_text("none;low\nschool;low\ncollege;high\n", encoding="utf-8")
        (here / "districts.csv").write_text(DISTRICTS, encoding="utf-8")
        for name, text in policies():
            yield name, plan_release(parse_policy(text, here)).certificate(FILES)
    plans: dict[str, dict[str, Any]] = {
        "plan": {"rate": 0.1, "k": 20, "epsilon": 0.5},
        "plan-stated-mechanism": {"rate": 0.1, "k": 20, "epsilon": 1.0, "blend_epsilon": 0.5},
        "plan-biased": {"low": 0.08, "high": 0.12, "exceptions": 1, "max_rate": 0.12, "k": 15, "epsilon": 1.0},
    }
    for name, asked in plans.items():
        yield name, plan(**asked).certificate((Assumption.ASSUMED_RATE,))
    for name, promised in derivations():
        yield f"rule-{name}", Certificate(promised, facts={"issued": "2026"})


if __name__ == "__main__":
    for name, certificate in certificates():
        with (Path(sys.argv[1]) / f"{name}.json").open("x", encoding="utf-8") as file:
            file.write(certificate.to_json())
