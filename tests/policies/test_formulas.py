"""No published CSV cell is a formula that somebody declared."""

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.policies.load import parse_policy
from tests.cases import for_each

from .policies import bent

CSV = ("[privacy]", '[release]\nformat = "csv"\n[privacy]')
SEX = '{ values = ["Female", "Male"] }'
WRONG = {
    "a value": (SEX, '{ values = ["=1+1", "Male"] }'),
    "other": (SEX, '{ values = ["Female"], other = "@SUM(A1)" }'),
    "missing": (SEX, '{ values = ["Female"], missing = "- none" }'),
    "a tab": (SEX, '{ values = ["\\t=1"] }'),
    "a name": ("sex =", '"+sex" ='),
}


@for_each("case", WRONG)
def test_formulas_are_refused_for_csv_only(case: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_policy(bent(WRONG[case], CSV))
    assert refused.value.code == "policy.formula"
    assert parse_policy(bent(WRONG[case])).format == "parquet"


def test_negative_numbers_are_no_formulas() -> None:
    policy = parse_policy(bent((SEX, '{ values = ["-1", "+2.5", "-1e3", "a=b"] }'), CSV))
    assert policy.format == "csv"
