"""Consistent estimates: tables that agree in what they have in common, and are no worse for it."""

import re
from collections import Counter

import numpy as np
import pytest

import crowdblend as cb
from crowdblend.errors import InvalidInput
from crowdblend.lab.demo import town
from tests.kinds.programme.programmes import COLUMNS, PEOPLE, two


def tables(policy, *names):
    done = cb.release(town(PEOPLE), policy, ledger=None, key=bytes(32))
    return done, {name: done.estimates(table=name, consistent=True).to_pandas() for name in names}


def test_margins_agree_and_are_the_weighted_means_of_both():
    register = two(
        cb.Table("age", "sex", name="a"), cb.Table("district", "sex", name="b"), sampling=cb.Everybody(), delta=None
    )
    _, found = tables(register, "a", "b")
    by_sex = {name: table.groupby("sex", observed=True)["estimate"].sum() for name, table in found.items()}
    assert np.allclose(by_sex["a"], by_sex["b"])
    own = {name: table.groupby("sex", observed=True)["own_estimate"].sum() for name, table in found.items()}
    # Each margin is a weighted mean of both.
    for sex in ("female", "male"):
        low, high = sorted((own["a"][sex], own["b"][sex]))
        assert low - 1e-6 <= by_sex["a"][sex] <= high + 1e-6


def test_the_report_has_both_numbers_of_a_margin_and_their_mean(tmp_path):
    policy = two(cb.Table("age", "sex", name="a"), cb.Table("district", "sex", name="b"), cb.Table("age", name="c"))
    done = cb.release(town(PEOPLE), policy, out=tmp_path / "out", ledger=None, figures=False)
    page = re.sub(r"</?bdi[^>]*>", "", (tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    chapter = page[page.index('id="shared"') : page.index('id="of-a"')]
    assert "By district" not in chapter  # one publication alone
    assert "noise_epsilon" not in page
    assert chapter.count(">their mean</th>") == 2
    for column, names in (("sex", ("a", "b")), ("age", ("a", "c"))):
        each = [done.estimates(table=name, margin=[column]).to_pylist() for name in names]
        for pair in zip(*each, strict=True):
            for row in pair:
                assert f"{row['low']:,} to {row['high']:,}" in chapter
            if None not in (pair[0]["estimate"], pair[1]["estimate"]):
                shown = re.search(rf">{re.escape(pair[0][column])}</td>.*?>([\d,]+)</td></tr>", chapter)
                assert shown is not None
                low, high = sorted(row["estimate"] for row in pair)
                assert low - 0.5 <= int(shown[1].replace(",", "")) <= high + 0.5
    assert cb.verify(tmp_path / "out") == done.certificate


def test_the_middle_of_what_is_missing_is_not_called_a_mean(tmp_path):
    """Crowds of 35 and more alone are published of few people, so that every margin has missing cells."""
    policy = two(cb.Table("age", "sex", name="a"), cb.Table("age", "district", name="b"))
    done = cb.release(town(1_000), policy, out=tmp_path / "out", ledger=None, figures=False)
    page = re.sub(r"</?bdi[^>]*>", "", (tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    chapter = page[page.index('id="shared"') : page.index('id="of-a"')]
    rows = done.estimates(table="b", margin=["age"]).to_pylist()
    assert {row["estimate"] for row in rows} == {None}
    assert "their mean" not in chapter  # a column that would be empty
    for row in rows:
        shown = re.search(rf">{re.escape(row['age'])}</td>(.*?)</tr>", chapter, re.S)
        assert shown is not None
        assert shown[1].endswith(f">{row['low']:,} to {row['high']:,}</td>")


def test_consistent_estimates_of_a_sample_are_closer_to_the_truth():
    """Over four draws, squared errors of the sexes by the small part are smaller once the large part has its say.

    The small part has a ninth of the people of the large one, so that its squared error is about nine times as large.
    Keys are fixed.
    """
    policy = two(
        cb.Table("district", "sex", name="large", below_k="noise", share=0.9),
        cb.Table("age", "sex", name="small", below_k="noise", share=0.1),
    )
    people = town(PEOPLE)
    true = Counter(people.column("sex").to_pylist())
    before = after = 0.0
    for number in range(4):
        done = cb.release(people, policy, ledger=None, key=bytes([number]) * 32)
        small = done.estimates(table="small", consistent=True).to_pandas()
        for sex, group in small.groupby("sex", observed=True):
            before += (group["own_estimate"].sum() - true[sex]) ** 2
            after += (group["estimate"].sum() - true[sex]) ** 2
    assert after < before / 2


def test_what_has_no_other_table_is_refused():
    policy = cb.Policy(
        person="person_id",
        sampling=cb.Poisson(0.5),
        epsilon=1.0,
        delta=1e-6,
        columns={"sex": COLUMNS["sex"]},
        publish=cb.Table("sex"),
    )
    done = cb.release(town(2_000), policy, ledger=None)
    with pytest.raises(InvalidInput, match="two or more publications"):
        done.estimates(consistent=True)
