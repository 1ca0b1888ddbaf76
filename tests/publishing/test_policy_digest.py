"""The digest of a policy knows every decision, and nothing else."""

from pathlib import Path

from crowdblend.policies.load import parse_policy
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
    ('kind = "table"', 'kind = "table"\nname = "people"'),
    ('kind = "table"', 'kind = "table"\ncolumns = ["district", "age", "sex"]'),
    ('kind = "table"', 'kind = "table"\nk = 40'),
    ("[privacy]", '[release]\nformat = "csv"\n[privacy]'),
    ("[privacy]", "[release]\nthreads = 1\n[privacy]"),
    ("rate = 0.5", 'rate = 0.5\nkey = "seal"'),
    ('"poisson"', '"coins"'),
    ("top = true", "top = true, bottom = true"),
    ('person = "person_id"', 'person = "person_id"\nduplicates = "one"'),
    ('person = "person_id"', 'person = "person_id"\npopulation = "town"'),
)


def digest(text: str, folder: Path) -> str:
    return policy_digest(parse_policy(text, folder))


@for_each("name", POLICIES)
def test_it_is_the_same_for_the_same_policy(name: str, tmp_path: Path) -> None:
    """Also when it is read a second time, from another folder."""
    here, there = (digest(POLICIES[name], folder) for folder in (tmp_path, tmp_path / "other"))
    assert here == there


def test_every_decision_changes_it(tmp_path: Path) -> None:
    digests = {digest(text, tmp_path) for text in POLICIES.values()}
    assert len(digests) == len(POLICIES)
    base = POLICIES["table"]
    known = {digest(base, tmp_path)}
    for old, new in CHANGES:
        assert old in base
        changed = digest(base.replace(old, new), tmp_path)
        assert changed not in known, new
        known.add(changed)
