"""`crowdblend hierarchy`: files that a policy reads, level by level."""

import json
from typing import Any

import pytest

from crowdblend.methods.recoding.hierarchies import Hierarchies, read_hierarchy
from crowdblend.policies.load import parse_policy
from tests.commands import crowdblend
from tests.policies.policies import policy_text

_POLICY = policy_text(
    data='person = "id"',
    sampling='design = "poisson"\nrate = 0.1',
    privacy="epsilon = 1.0\ndelta = 1e-6",
    columns='x = { hierarchy = "h.csv", level = 1 }',
    publish='kind = "table"',
)


@pytest.fixture
def run(tmp_path):
    return lambda *arguments: crowdblend("hierarchy", *arguments, folder=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "value", "groups"),
    [
        (("intervals", "--from", "0", "--to", "100", "--width", "5", "--width", "20"), "37", ["35–39", "20–39", "*"]),
        (("intervals", "--from", "-10", "--to", "10", "--width", "10"), "-3", ["-10 to -1", "*"]),
        (("prefixes", "codes.txt", "--keep", "3", "--keep", "1"), "10;15", ["10;**", "1****", "*"]),
        (("order", "codes.txt", "--size", "2"), "20999", ["20999", "*"]),
    ],
)
def test_a_policy_reads_what_was_made(run, tmp_path, arguments, value, groups):
    (tmp_path / "codes.txt").write_text("10;15\n10999\n20999\n")
    code, out, err = run(*arguments, "--out", "h.csv", "--json")
    assert (code, err) == (0, "")
    lines = read_hierarchy(tmp_path / "h.csv")
    assert json.loads(out) == {"file": "h.csv", "values": len(lines), "levels": len(groups) + 1}
    for level, group in enumerate(groups, 1):
        made = Hierarchies(lines, level)
        code = made.code(value)
        assert code is not None
        assert made.labels[code] == group
    (column,) = parse_policy(_POLICY, tmp_path).columns
    recoding: Any = column.recoding
    assert recoding.labels[recoding.code(value)] == groups[0]
    assert run(*arguments, "--out", "h.csv")[0] == 2, "an existing file is refused without --force"
    assert run(*arguments)[1] == (tmp_path / "h.csv").read_text(), "stdout has the same"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("intervals", "--from", "0", "--to", "100", "--width", "7"), "hierarchy.step"),
        (("intervals", "--from", "0", "--to", "100", "--width", "10", "--width", "25"), "hierarchy.nesting"),
        (("intervals", "--from", "5", "--to", "5", "--width", "1"), "hierarchy.size"),
        (("prefixes", "codes.txt", "--keep", "1", "--keep", "3"), "hierarchy.order"),
        (("order", "twice.txt", "--size", "2"), "hierarchy.repeated"),
        (("order", "absent.txt", "--size", "2"), "hierarchy.file"),
    ],
)
def test_refusals(run, tmp_path, arguments, code):
    (tmp_path / "codes.txt").write_text("a\nb\n")
    (tmp_path / "twice.txt").write_text("a\na\n")
    status, out, _ = run(*arguments, "--out", "h.csv", "--json")
    error = json.loads(out)["error"]
    assert (status, error["code"], bool(error["remedy"])) == (2, code, True)
    assert not (tmp_path / "h.csv").exists()
