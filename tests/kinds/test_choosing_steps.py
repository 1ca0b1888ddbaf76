"""Choosing in steps, scores that are shown, noise below k: what the certificate adds up, and what a release shows."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.methods.selection.lattice import Ladder, Lattice
from crowdblend.methods.selection.scores import score
from crowdblend.policies.choosing import Choosing
from crowdblend.policies.load import parse_policy
from crowdblend.policies.recoding_lattice import lattice_of
from crowdblend.publishing.release import release
from crowdblend.trusted.calculus import RULES, Certificate, verify, verify_file
from tests.cases import for_each
from tests.plans import plan
from tests.trusted.calculus.documents import resealed

from .towns import DRAWN, KEY, POLICY, SPLIT, write_town


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_town(tmp_path_factory.mktemp("town"))


def test_an_understated_sensitivity_does_not_verify_even_with_a_new_digest(town: Path) -> None:
    """What one person can move is computed again from k, the rate and the weights."""
    document = plan(parse_policy(POLICY, town).only).certificate().to_dict()
    for derivation in document["derivations"]:
        (leaf,) = scores_of(derivation)
        assert (leaf["rule"], leaf["parameters"]["parts"]) == ("score.published", 3000)
        leaf["conclusion"]["sensitivity"] /= 2
    with pytest.raises(DoesNotVerify, match="is not what the rule gives"):
        verify(resealed(document))


def scores_of(step: dict[str, Any]) -> list[dict[str, Any]]:
    return [step] * step["rule"].startswith("score.") + [
        leaf for premise in step["premises"] for leaf in scores_of(premise)
    ]


STEPS = 'search = "steps"\nsteps = 3\n'


@for_each("text", [POLICY, SPLIT])
@for_each("score", ["loss", "published"])
def test_steps_add_up_to_the_promise(town: Path, text: str, score: str) -> None:
    planned = plan(parse_policy(text.replace("using", f'{STEPS}score = "{score}"\nusing'), town).only)
    certificate = planned.certificate()
    every = certificate.derivations[0].steps()
    steps = [step for step in every if step.rule.id.startswith(("selection", "composition"))]
    together, *parts = steps
    assert [step.rule.id for step in steps] == ["composition.adaptive", *["selection.exponential"] * 3]
    assert sum(Fraction(step.conclusion.epsilon) for step in parts) <= Fraction(together.conclusion.epsilon)
    assert together.conclusion.epsilon == pytest.approx(0.1, abs=1e-15)
    assert together.conclusion.epsilon <= planned.policy.recoding.epsilon
    assert certificate.derivations[0].conclusion.epsilon <= 1.0
    assert certificate.derivations[0].conclusion.epsilon == pytest.approx(1.0, abs=1e-12)
    assert planned.facts().parameters["epsilon"] == certificate.derivations[0].conclusion.epsilon


@pytest.mark.parametrize("text", [POLICY, DRAWN], ids=["population", "drawn"])
def test_a_release_in_steps(town: Path, tmp_path: Path, text: str) -> None:
    policy = parse_policy(text.replace("using", f"{STEPS}using"), town)
    done = release(policy, tmp_path / "out", key=KEY)
    verify_file(done.folder)
    facts = json.loads((done.folder / "certificate.json").read_text())["facts"]["recoding"]
    assert facts["choice"]["choices"] == 3
    assert "in 3 steps" in (done.folder / "report.html").read_text()


@pytest.mark.slow
def test_large_lattices_are_searched_in_steps_by_themselves(town: Path, tmp_path: Path) -> None:
    """2,125,764 recodings, of which some thousands are scored."""
    levels = "".join(f"d{place} = {{ hierarchy = 'districts.csv', level = 'choose' }}\n" for place in range(11))
    people = pd.read_parquet(town / "town.parquet").head(2000)
    rng = np.random.default_rng(1)
    wide = people.assign(**{f"d{place}": rng.permutation(people["district"]) for place in range(11)})
    wide.to_parquet(town / "wide.parquet")
    text = POLICY.replace("town.parquet", "wide.parquet").replace("[recoding]", f"{levels}[recoding]")
    policy = parse_policy(text, town)
    assert lattice_of(policy.columns).size == 4 * 3**12
    done = release(policy, tmp_path / "out", key=KEY)
    certificate = verify_file(done.folder)
    chosen = [step for step in certificate.derivations[0].steps() if step.rule.id == "selection.exponential"]
    assert 1 < len(chosen) < 6
    with pytest.raises(InvalidInput, match='search = "whole"'):
        parse_policy(text.replace("using", 'search = "whole"\nusing'), town)


def test_a_hundred_steps_verify_and_more_are_refused() -> None:
    def ladders(columns: int) -> Lattice:
        each = Ladder("x", tuple(np.zeros(80, int) if level else np.arange(80) for level in range(80)))
        return Lattice((each,) * columns)

    choosing, scored = Choosing(0.1, "population"), score("loss", k=20, rate=0.5)
    derived = choosing.choice(ladders(100), scored).claim()
    replaced = RULES["differential.replace"](derived)
    assert verify(Certificate((derived, replaced)).to_json()).derivations[0].conclusion.epsilon <= choosing.epsilon
    assert [step.rule.id for step in derived.steps()].count("selection.exponential") == 100
    with pytest.raises(InvalidInput, match="more than 100"):
        choosing.choice(ladders(101), scored)


def test_a_noisy_table_of_a_chosen_recoding(town: Path, tmp_path: Path) -> None:
    """Plain composition: the choice on the population, and the noisy table of an independent sample."""
    policy = parse_policy(POLICY.replace('kind = "table"', 'kind = "table"\nbelow_k = "noise"'), town)
    done = release(policy, tmp_path / "out", key=KEY)
    certificate = verify_file(done.folder)
    assert certificate.derivations[0].conclusion.epsilon <= 1.0
    assert certificate.derivations[0].conclusion.delta <= 1e-6
    steps = {step.rule.id for step in certificate.steps()}
    assert {"selection.exponential", "recoding.population", "histogram.noisy-sampled"} <= steps
    facts = json.loads((done.folder / "certificate.json").read_text())["facts"]
    chosen = facts["recoding"]["chosen"]
    cells = 2 * chosen["age"]["classes"] * chosen["district"]["classes"]
    assert facts["mechanism"]["show_from"] is None
    assert len(pd.read_parquet(done.folder / "data.parquet")) == cells
