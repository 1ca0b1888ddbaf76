"""The digest of a policy knows every decision, and nothing else."""

from __future__ import annotations

from pathlib import Path

from crowdblend.policies import parse_policy
from crowdblend.publishing.policy_digest import policy_digest
from tests.cases import for_each
from tests.golden.releases import POLICIES

CHANGES = (
    ("epsilon = 1.0", "epsilon = 1.5"),
    ("delta = 1e-6", "delta = 2e-6"),
    ("rate = 0.5", "rate = 0.25"),
    ("width = 10", "width = 30"),
    ('"female", "male"', '"male", "female"'),
    ('kind = "table"', 'kind = "microdata"'),
    ('kind = "table"', 'kind = "table"\nformat = "csv"'),
    ('kind = "table"', 'kind = "table"\nthreads = 1'),
    ("rate = 0.5", 'rate = 0.5\nkey = "seal"'),
    ("rate = 0.5", "rate = 0.5\nalready_drawn = true"),
    ("top = true", "top = true, bottom = true"),
    ('person = "person_id"', 'person = "person_id"\nduplicates = "one"'),
    ('person = "person_id"', 'person = "person_id"\npopulation = "town"'),
)


@for_each("name", POLICIES)
def test_it_is_the_same_for_the_same_policy(name: str, tmp_path: Path) -> None:
    """Also when it is read a second time, from another folder."""
    here, there = (policy_digest(parse_policy(POLICIES[name], folder)) for folder in (tmp_path, tmp_path / "other"))
    assert here == there


def test_every_decision_changes_it(tmp_path: Path) -> None:
    digests = {policy_digest(parse_policy(text, tmp_path)) for text in POLICIES.values()}
    assert len(digests) == len(POLICIES)
    base = POLICIES["table"]
    known = {policy_digest(parse_policy(base, tmp_path))}
    for old, new in CHANGES:
        assert old in base
        changed = policy_digest(parse_policy(base.replace(old, new), tmp_path))
        assert changed not in known, new
        known.add(changed)
