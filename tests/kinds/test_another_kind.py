"""A kind in another package works everywhere, without a line in ours: an entry point says where its parts are."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from crowdblend.cli.main import cli
from crowdblend.lab.rehearsal.subject import subject_of
from crowdblend.policies.load import load_policy
from crowdblend.policies.registry import all_kinds
from crowdblend.reading.release import read
from tests.golden.releases import POLICIES, write_sources
from tests.packages import install_package

# A table of which the data file is called a tally: what makes it a kind is the package, not what it computes.
PARTS = {
    "__init__": "from crowdblend.policies.registry import Kind\n"
    'TALLY = Kind("another_package", "Tally", "tally", "Counts in another package.")\n',
    "policy": "from crowdblend.kinds.table.policy import Table, TablePolicy\n"
    "class Tally(Table, frozen=True, kw_only=True):\n"
    '    kind = "tally"\n'
    "class TallyPolicy(TablePolicy, frozen=True, kw_only=True):\n"
    "    publication: Tally\n",
    "facts": "from crowdblend.kinds.table.facts import TableFacts\n"
    'class TallyFacts(TableFacts, frozen=True, kw_only=True, tag="tally"):\n'
    '    """What a tally says of itself."""\n',
    "plan": "from crowdblend.kinds.shared.crowds import plan_crowds\n"
    "from crowdblend.kinds.shared.method import Method\n"
    "from crowdblend.kinds.table.plan import TablePlan\n"
    "from another_package.facts import TallyFacts\n"
    "class TallyPlan(TablePlan):\n"
    "    def facts(self, publication=None):\n"
    "        made = super().facts(publication)\n"
    "        return TallyFacts(**{name: getattr(made, name) for name in made.__struct_fields__})\n"
    "class method(Method):\n"
    "    def plan(self):\n"
    "        return TallyPlan(self.policy, plan_crowds(self.policy, 'histogram'))\n",
    "view": "from crowdblend.kinds.table.view import view\n",
    "verify": "from crowdblend.kinds.table.verify import check\n",
    "rehearse": "from crowdblend.kinds.table.rehearse import subject\n",
}


@pytest.fixture
def another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    install_package(tmp_path / "site", "another_package", PARTS, {"tally": "TALLY"})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield
    for name in [name for name in sys.modules if name.startswith("another_package")]:
        del sys.modules[name]


@pytest.mark.usefixtures("another_package")
def test_a_kind_of_another_package_is_planned_released_verified_shown_rehearsed_and_audited(tmp_path: Path) -> None:
    write_sources(tmp_path)
    policy, out = tmp_path / "policy.toml", tmp_path / "out"
    policy.write_text(POLICIES["table"].replace('kind = "table"', 'kind = "tally"'))
    assert "tally" in all_kinds()
    assert load_policy(policy).plan().k == 35
    for command in (
        ["plan", str(policy)],
        ["ledger", "init", str(tmp_path / "ledger.sqlite")],
        ["release", str(policy), "--out", str(out), "--ledger", str(tmp_path / "ledger.sqlite"), "--yes"],
        ["verify", str(out)],
        ["read", str(out)],
        ["report", str(out), "--out", str(tmp_path / "page.html")],
        ["rehearse", str(policy), "--people", "500", "--times", "1"],
    ):
        told = CliRunner().invoke(cli, command)
        assert told.exit_code == 0, (command, told.output)
    assert read(out).kind == "tally"
    audited = subject_of(load_policy(policy).only, lambda k, rate, epsilon: {"alone": 1}, "tally")
    assert audited.observe(audited.pairs()[0].more, 3)
    assert "What was published" in (tmp_path / "page.html").read_text(encoding="utf-8")
