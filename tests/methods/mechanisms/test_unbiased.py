"""Where every cell is shown, sums of noisy cells are right on average, whatever is in the table.

Each test adds up 2,000 tables, in releases of twenty such tables beside each other: every cell has noise of its own.
The mean error of a total is then within five standard errors of 0, but for a probability of 6e-7; a table cut off at 1
is off by tens of standard errors.
"""

import numpy as np

from crowdblend.methods.mechanisms import NoisyHistogram, OutlierHistogram
from crowdblend.methods.mechanisms.histograms import threshold_for
from crowdblend.methods.recoding.classes import MOST_CELLS_LISTED
from tests.cases import for_each
from tests.methods.mechanisms.test_histograms import key, one_column, values_of

RELEASES, BESIDE, FAR = 100, 20, 5.0
TABLES = {
    "empty": [0] * 60,
    "sparse": [0] * 50 + [1, 2, 3, 1, 4, 9, 30, 1, 1, 2],
    "dense": [3, 4, 8, 11, 14, 9, 30, 200, 45, 2] * 6,
}
MECHANISMS = {
    "noise": NoisyHistogram(12, 0.6, None),
    "flagged": NoisyHistogram(12, 0.6, None, flag=True),
    "outlier": OutlierHistogram(0.5, 20, 40, None),
}


def total_errors(mechanism: NoisyHistogram | OutlierHistogram, counts: list[int]) -> np.ndarray:
    sample = one_column(counts * BESIDE, len(counts) * BESIDE)
    totals = []
    for number in range(RELEASES):
        published = values_of(mechanism.publish(sample, key(number)))
        cells = np.zeros(len(counts) * BESIDE, np.int64)
        cells[list(published)] = list(published.values())
        totals.append(cells.reshape(BESIDE, len(counts)).sum(axis=1))
    return np.concatenate(totals) - sum(counts)


@for_each("table", TABLES, daily=2)
@for_each("name", MECHANISMS)
def test_the_mean_error_of_a_total_is_nothing(name: str, table: str) -> None:
    errors = total_errors(MECHANISMS[name], TABLES[table])
    assert errors.std() > 0
    assert abs(errors.mean()) <= FAR * errors.std() / np.sqrt(len(errors))


def test_a_table_that_is_cut_off_is_biased() -> None:
    errors = total_errors(NoisyHistogram(12, 0.6, 1), TABLES["sparse"])
    assert errors.mean() > 10 * errors.std() / np.sqrt(len(errors))


def test_every_cell_is_shown_with_its_value() -> None:
    counts = [0, 0, 5, 20, 0, 1, 0, 300]
    published = NoisyHistogram(12, 0.3, None).publish(one_column(counts), key(1))
    values = values_of(published)
    assert list(values) == list(range(len(counts)))
    assert (values[3], values[7]) == (20, 300)
    many = NoisyHistogram(12, 0.3, None).publish(one_column([0] * 2_000), key(2)).counts
    assert (many < 0).sum() > 500


def test_cells_are_cut_off_only_where_they_cannot_all_be_shown_or_on_request() -> None:
    assert threshold_for(None, MOST_CELLS_LISTED, 0.1) is None
    assert threshold_for(None, MOST_CELLS_LISTED + 1, 0.1) > 50
    assert threshold_for(3, 10, 0.1) == 3
