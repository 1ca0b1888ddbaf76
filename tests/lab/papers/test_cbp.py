"""CBP Propositions 11 and 12 by experiment; comparisons with a false-alarm rate of 1e-6 each."""

from scipy import stats

from crowdblend.lab.papers import reproduce
from crowdblend.lab.papers.cbp import RUNS, guaranteed_epsilon, limit
from tests.cases import for_each

FALSE_ALARM = 1e-6
ROWS = reproduce("cbp-proposition12").rows


@for_each("row", ROWS)
def test_no_differentially_private_release_keeps_the_first_point(row):
    epsilon, most, noise, coin, *_ = row
    assert most == limit(epsilon)
    for kept in (noise, coin):
        assert stats.binom.sf(round(kept * RUNS) - 1, RUNS, most) > FALSE_ALARM


@for_each("row", ROWS)
def test_the_coin_shows_that_the_limit_is_reached(row):
    assert stats.binomtest(round(row[3] * RUNS), RUNS, limit(row[0])).pvalue > FALSE_ALARM


@for_each("row", ROWS)
def test_crowd_blending_keeps_it_as_often_as_promised(row):
    epsilon, *_, least, kept = row
    assert least == guaranteed_epsilon(epsilon)
    assert stats.binomtest(round(kept * RUNS), RUNS, least).pvalue > FALSE_ALARM
    # what differential privacy cannot do at any of these epsilons, beyond doubt
    assert stats.binom.sf(round(kept * RUNS) - 1, RUNS, limit(epsilon)) < FALSE_ALARM
