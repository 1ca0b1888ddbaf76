"""A noisy kind of another package shares the budget, the sample and the folder of a programme with tables of ours."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import crowdblend as cb
from crowdblend.cli.main import cli
from crowdblend.policies.load import load_policy
from crowdblend.reading.release import read
from tests.golden.releases import write_sources
from tests.packages import install_package

# One number: how many people have a label in its columns, with noise by a mechanism of its own.
PARTS = {
    "__init__": """
from crowdblend.policies.registry import Kind
HEADCOUNT = Kind("headcounts", "Headcount", "headcount", "How many people there are, with noise.")
""",
    "mechanism": """
from crowdblend.trusted.calculus.rules import mechanisms
from crowdblend.methods.mechanisms.mechanism import Mechanism
from crowdblend.methods.planning.drawable_noise import Loss
from crowdblend.trusted.randomness import discrete_laplace

class NoisyHeadcount(Mechanism, frozen=True, tag="noisy-headcount"):
    noise_epsilon: Loss

    def claim(self):
        return mechanisms.histogram_laplace(noise_epsilon=self.noise_epsilon)

    def publish(self, people, key):
        return people + int(discrete_laplace(1, self.noise_epsilon, key.source(b"noise on the headcount"))[0])
""",
    "policy": """
from typing import Annotated
from crowdblend.policies.key import key
from crowdblend.policies.publication import Publication
from crowdblend.policies.publication_policy import SampledPolicy
from crowdblend.policies.sampling import designs_for

class Headcount(Publication, frozen=True, kw_only=True):
    kind = "headcount"
    designs = designs_for("everybody")
    lacks = ("recoding",)
    asks_for_noise = True
    called: Annotated[str, key("What the number is called.")] = "people"

class HeadcountPolicy(SampledPolicy, frozen=True, kw_only=True):
    publication: Headcount
    cells = 1
""",
    "facts": """
from collections.abc import Mapping
from crowdblend.methods.recoding.domain import Domain
from crowdblend.kinds.shared.facts import PeopleFacts
from headcounts.mechanism import NoisyHeadcount

class HeadcountFacts(PeopleFacts, frozen=True, kw_only=True, tag="headcount"):
    mechanism: NoisyHeadcount
    columns: dict[str, Domain]

    @property
    def mechanisms(self):
        return (self.mechanism,)

    @property
    def domains(self):
        return self.columns

    @property
    def parameters(self):
        return {"epsilon": self.derivations()[0].conclusion.epsilon, "noise_epsilon": self.mechanism.noise_epsilon}

    def derivations(self):
        return self.design.derivations(self.mechanisms, self.mechanism.noise_epsilon)
""",
    "plan": """
from dataclasses import dataclass
from crowdblend.kinds.shared.class_counts import ClassCountsPlan
from crowdblend.kinds.shared.method import Method
from crowdblend.kinds.shared.outputs import NumbersOutput
from crowdblend.kinds.shared.plan import Result
from headcounts.facts import HeadcountFacts
from headcounts.mechanism import NoisyHeadcount

@dataclass(frozen=True, repr=False)
class HeadcountPlan(ClassCountsPlan):
    policy: object
    mechanism: NoisyHeadcount

    @property
    def mechanisms(self):
        return (self.mechanism,)

    def facts(self, publication=None):
        (ran,) = self.mechanisms if publication is None else publication.mechanisms
        return HeadcountFacts(**self.common_facts(), mechanism=ran)

    def describe(self):
        return [*self.describe_reading(), ("would publish", f"how many {self.policy.publication.called} there are")]

    def publish(self, reading, key, progress=None):
        number = self.mechanism.publish(reading.sample.people, key)
        output = NumbersOutput(self.policy.file, {self.policy.publication.called: [number]})
        return Result((output,), self.mechanisms)

class method(Method):
    def plan(self):
        sample = self.policy.design
        return self.plan_noisy(sample.largest_loss(self.policy.epsilon), 0.0)

    def plan_part(self, budget):
        own = self.policy.replace(sampling=self.policy.sampling.thin_by(budget.share))
        return HeadcountPlan(own, NoisyHeadcount(budget.noise))

    def plan_noisy(self, epsilon, delta):
        return HeadcountPlan(self.policy, NoisyHeadcount(epsilon))
""",
    "view": """
from crowdblend.reading.reports.view import View

def view(folder, figures):
    return View("A headcount", "a headcount", (), ["The number has noise."], ())
""",
    "verify": """
from crowdblend.reading.verification.consistency import require_files

def check(published):
    require_files(published, *published.files)
""",
}
POLICY = """
[data]
source = "town.parquet"
person = "person_id"

[sampling]
{design}

[privacy]
epsilon = 1.0
{delta}
split = "{split}"

[columns]
sex = {{ values = ["female", "male"] }}
district = {{ values = ["Harbour", "Old Town", "Riverside", "Hillside"], other = "other" }}

[[publish]]
kind = "table"
name = "districts"
columns = ["sex", "district"]
{below}

[[publish]]
kind = "headcount"
name = "heads"
columns = ["sex"]
called = "residents"
"""
REGISTER = POLICY.format(design='design = "everybody"', delta="", split="budget", below="")
NOISY = 'below_k = "noise"'
SAMPLES = [
    POLICY.format(design='design = "poisson"\nrate = 0.5', delta="delta = 1e-6", split=split, below=NOISY)
    for split in ("people", "fresh", "budget")
]


@pytest.fixture
def headcounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    install_package(tmp_path / "site", "headcounts", PARTS, {"headcount": "HEADCOUNT"})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield
    for name in [name for name in sys.modules if name.startswith("headcounts")]:
        del sys.modules[name]


@pytest.mark.usefixtures("headcounts")
def test_it_shares_a_budget_and_is_published_verified_read_and_shown(tmp_path: Path) -> None:
    write_sources(tmp_path)
    policy, out = tmp_path / "policy.toml", tmp_path / "out"
    policy.write_text(REGISTER)
    made: Any = load_policy(policy)
    table, heads = (one.plan.mechanisms[0] for one in made.plan().planned)
    # By the square root of the number of cells, ten and one, each has its part of epsilon, and no more is lost.
    assert table.noise_epsilon / heads.noise_epsilon == pytest.approx(10**0.5)
    assert 0.999 < table.noise_epsilon + heads.noise_epsilon <= 1.0
    for command in (
        ["plan", str(policy)],
        ["ledger", "init", str(tmp_path / "ledger.sqlite")],
        ["release", str(policy), "--out", str(out), "--ledger", str(tmp_path / "ledger.sqlite"), "--yes"],
        ["verify", str(out)],
        ["read", str(out)],
        ["report", str(out), "--out", str(tmp_path / "page.html")],
    ):
        told = CliRunner().invoke(cli, command)
        assert told.exit_code == 0, (command, told.output)
    published = read(out)
    assert [one.kind for one in published.publications.values()] == ["table", "headcount"]
    assert published.certificate.differential().epsilon <= 1.0
    assert cb.load_policy(policy) == made
    assert "The number has noise." in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("headcounts")
@pytest.mark.parametrize("text", SAMPLES, ids=["people", "fresh", "budget"])
def test_it_joins_a_sample_however_that_is_shared(tmp_path: Path, text: str) -> None:
    write_sources(tmp_path)
    (tmp_path / "policy.toml").write_text(text)
    done = cb.release(None, load_policy(tmp_path / "policy.toml"), out=tmp_path / "out", ledger=None)
    assert cb.verify(tmp_path / "out").differential() == done.certificate.differential()
    found = done.certificate.differential()
    assert found.epsilon <= 1.0
    assert found.delta <= 1e-6
