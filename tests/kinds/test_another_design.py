"""A design is one class of its own, and one line in each of two lists; all kinds then work with it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import crowdblend
from tests.golden.releases import POLICIES, write_sources

SOURCE = Path(crowdblend.__file__).parent
CLASSES = {"Poisson", "Coins", "Survey", "ThinnedSurvey", "Strata", "Weights", "Biased", "Everybody"}

# One ticket in so many wins: whoever has it is in the sample. It says what coins of that rate say, and is none of ours.
LOTTERY = """
from typing import Annotated

from crowdblend.methods import designs
from crowdblend.policies import sampling
from crowdblend.policies.key import key


class Lottery(designs.Design, frozen=True, tag="lottery"):
    tickets: int

    @property
    def coins_of_rate(self):
        return designs.Poisson(1 / self.tickets)

    has_one_rate = True
    inclusion = property(lambda self: self.coins_of_rate.inclusion)
    largest_rate = property(lambda self: 1 / self.tickets)
    description = property(lambda self: f"one of {self.tickets} tickets wins")

    def draw(self, coin, part=None):
        return self.coins_of_rate.draw(coin, part)

    def derivations(self, mechanisms, epsilon):
        return self.coins_of_rate.derivations(mechanisms, epsilon)

    def derivations_in_copies(self, claim, copies):
        return self.coins_of_rate.derivations_in_copies(claim, copies)

    def amplify(self, profile):
        return self.coins_of_rate.amplify(profile)


class LotterySampling(sampling.Sampling, frozen=True):
    design = "lottery"
    words, meaning = "a lottery", "One ticket in so many wins."
    tickets: Annotated[int, key("How many tickets there are for one that wins.", (2, 100))]
    rate = property(lambda self: 1 / self.tickets)

    def sample(self, declared=None):
        return Lottery(self.tickets)


designs.DESIGNS += (Lottery,)
sampling.DESIGNS["lottery"] = LotterySampling
"""
RUN = """
import sys
from click.testing import CliRunner
from crowdblend.cli.main import cli
from crowdblend.reading.release import read

for kind in sys.argv[1:]:
    policy, out = f"{kind}.toml", f"out-{kind}"
    CliRunner().invoke(cli, ["ledger", "init", f"{kind}.sqlite"])
    for command in (
        ["plan", policy],
        ["release", policy, "--out", out, "--ledger", f"{kind}.sqlite", "--yes"],
        ["verify", out],
        ["report", out, "--out", f"{kind}.html"],
        ["rehearse", policy, "--people", "8000", "--times", "1"],
    ):
        told = CliRunner().invoke(cli, command)
        assert told.exit_code == 0, (kind, command, told.output)
    assert read(out).facts.design.tickets == 2
    print(kind, "works")
"""
DRAWN, WON = 'design = "poisson"\nrate = 0.5\n', 'design = "lottery"\ntickets = 2\n'
EVERYBODY = 'design = "everybody"\n'
NUMBERS = f'people = 8000\n[sampling]\n{WON}[columns]\nsex = {{ values = ["female", "male"] }}\n'
PUBLISH = {
    "table": POLICIES["table"].replace(DRAWN, WON),
    "threshold": POLICIES["table-threshold-drawn"].replace(DRAWN, WON),
    "microdata": POLICIES["microdata"].replace(DRAWN, WON),
    "points": POLICIES["points"].replace(DRAWN, WON),
    "outlier-table": POLICIES["outlier-table"].replace(EVERYBODY, WON),
    "statistics": '[data]\nsource = "town.parquet"\nperson = "person_id"\n' + NUMBERS + "[privacy]\nepsilon = 1.0\n"
    '[[publish]]\nkind = "statistics"\n[[publish.statistics]]\nname = "women"\ncount = { sex = "female" }\n',
    "synopsis": '[data]\nsource = "town.parquet"\nperson = "person_id"\n' + NUMBERS + "[privacy]\nepsilon = 1.0\n"
    '[[publish]]\nkind = "synopsis"\nconjunctions = 1\n',
}


def all_kinds_work(folder: Path, kinds: list[str]) -> None:
    write_sources(folder)
    for kind in kinds:
        (folder / f"{kind}.toml").write_text(PUBLISH[kind])
    ran = subprocess.run(
        [sys.executable, "-c", LOTTERY + RUN, *kinds], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.split("\n")[:-1] == [f"{kind} works" for kind in kinds]


def test_a_new_design_is_planned_drawn_verified_shown_and_rehearsed(tmp_path: Path) -> None:
    all_kinds_work(tmp_path, ["table"])


@pytest.mark.slow
def test_a_new_design_works_with_every_kind(tmp_path: Path) -> None:
    all_kinds_work(tmp_path, list(PUBLISH))


def test_nobody_asks_a_design_for_its_class() -> None:
    """Whoever needs to know something of a design asks it, so that a new one has to answer in its own file alone.

    A draw is another thing: it says whom an engine keeps, and engines tell draws apart.
    """
    found = []
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE)
        if place.as_posix().startswith(("methods/designs/", "sources/engines/")):
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if any(name in text for name in CLASSES) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                asked = {one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name)}
                found += [f"{place}:{node.lineno}"] if asked & CLASSES else []
    assert found == []
