"""Columns with several levels of dates, truth values as they are, and a warning about a last class of two numbers."""

import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.policies.columns import Column
from crowdblend.policies.load import parse_policy
from crowdblend.policies.recoding_lattice import lattice_of
from tests.cases import for_each
from tests.policies.policies import policy_text

_POLICY = policy_text(
    data='person = "id"',
    sampling='design = "poisson"\nrate = 0.1',
    columns="born = {{ {born} }}",
    recoding='epsilon = 0.1\nusing = "population"',
    privacy="epsilon = 1.0\ndelta = 1e-6",
    publish='kind = "table"',
)


def _policy(born):
    return parse_policy(_POLICY.format(born=born))


@for_each(
    "periods",
    [
        ["day", "week"],
        ["day", "week", "month", "year"],
        ["day", "month", "year"],
        ["month", "quarter", "year"],
        ["quarter", "year"],
    ],
)
def test_periods_are_made_of_the_first(periods):
    policy = _policy(f"date = {periods}, from = 2019-12-30, to = 2022-03-05".replace("'", '"'))
    (column,) = policy.columns
    assert [recoding.period for recoding in column.recodings] == periods
    (ladder,) = lattice_of([column]).ladders
    finest = column.recodings[0]
    for recoding, level in zip(column.recodings, ladder.maps, strict=True):
        for day in ("2019-12-30", "2020-02-29", "2021-01-03", "2022-03-04"):
            assert level[finest.code(day)] == recoding.code(day), (recoding.period, day)
    assert parse_policy(policy.to_toml()) == policy


@for_each(
    "born",
    [
        'date = ["week", "year"], from = 2020-01-01, to = 2021-01-01',
        'date = ["year", "day"], from = 2020-01-01, to = 2021-01-01',
        'date = ["day"], from = 2020-01-01, to = 2021-01-01',
        'date = ["day", "month"]',
    ],
)
def test_offers_that_are_none(born):
    with pytest.raises(InvalidInput) as caught:
        _policy(born)
    assert caught.value.code == "policy.offer"
    assert caught.value.remedy


def test_weeks_and_months_are_offered_together_and_either_is_chosen():
    """People on two days of one week, in two months: the week holds them all, the month and the day few."""
    import pyarrow as pa

    text = _POLICY.format(born='date = ["day", "week", "month"], from = 2021-01-01, to = 2022-01-01')
    for old, new in (
        ("rate = 0.1", "rate = 0.5"),
        ("epsilon = 0.1", "epsilon = 0.9"),
        ("delta = 1e-6\n", ""),
        ('kind = "table"', 'kind = "table"\nk = 900'),
    ):
        text = text.replace(old, new)
    found = []
    for days in (["2021-03-31", "2021-04-01"], ["2021-03-02", "2021-03-23"]):
        people = pa.table({"id": range(2000), "born": [days[n % 2] for n in range(2000)]})
        # Of 1,000 people on a day hardly ever 900 are drawn; the right level is missed with probability below 1e-40.
        done = cb.release(people, parse_policy(text), ledger=None)
        found.append(done.certificate.facts["recoding"]["chosen"]["born"]["period"])
    assert found == ["week", "month"]


def test_a_chosen_level_is_released(tmp_path):
    import pyarrow as pa

    people = pa.table({"id": range(3000), "born": [f"20{20 + n % 2}-0{n % 9 + 1}-11" for n in range(3000)]})
    policy = _policy('date = ["day", "month", "year"], from = 2020-01-01, to = 2022-01-01')
    done = cb.release(people, policy, ledger=None)
    chosen = done.certificate.facts["recoding"]["chosen"]["born"]
    assert chosen["period"] in ("day", "month", "year")
    assert cb.verify(done.certificate)


def test_truth_values_are_as_the_data_show_them():
    assert cb.values(True, False) == cb.values("true", "false")


def test_two_numbers_in_the_last_class_are_warned_of():
    with pytest.warns(UserWarning, match="puts 99 and 100 into one class"):
        cb.intervals(0, 100, width=1, include_to=True)
    Column("age", cb.intervals(0, 100, width=10, include_to=True))
    Column("age", cb.intervals(0, 101, width=1))
