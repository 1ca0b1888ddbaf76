"""At most m random rows of everybody: all sets of m equally likely, whatever the order."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from crowdblend.methods.designs.draw import Everybody
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines.choice import count_classes
from crowdblend.trusted.randomness import DrawKey
from tests.cases import for_each
from tests.policies.policies import policy_text

KEY = bytes(range(32))
FALSE_ALARM = 1e-6
POLICY = policy_text(
    data='source = "visits.parquet"\nperson = "id"\nrows_per_person = {rows}',
    sampling='design = "everybody"',
    columns='ward = {{ values = ["a", "b", "c"] }}',
    privacy="epsilon = 1.0",
    publish='kind = "table"',
)


def write(folder: Path, wards: list[str], people: int, shuffle: int | None = None) -> None:
    frame = pd.DataFrame({"id": np.repeat(np.arange(people), len(wards)), "ward": wards * people})
    if shuffle is not None:
        frame = frame.sample(frac=1, random_state=shuffle)
    frame.to_parquet(folder / "visits.parquet")


def counts(folder: Path, rows: int, key: bytes = KEY) -> tuple[dict[str, int], int | None]:
    found = count_classes(parse_policy(POLICY.format(rows=rows), folder), Everybody(row_key=DrawKey(key)))
    classes = found.classes
    named = [classes.labels[0][code] for code in classes.codes[:, 0]]
    return dict(zip(named, classes.counts.tolist(), strict=True)), found.people


def test_nobody_has_more_and_everybody_with_fewer_keeps_all(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1] * 5 + [2] * 2 + [3], "ward": list("aaabb") + list("ac") + ["b"]})
    frame.to_parquet(tmp_path / "visits.parquet")
    for rows, kept in ((1, 3), (2, 5), (3, 6), (5, 8), (9, 8)):
        found, people = counts(tmp_path, rows)
        assert (sum(found.values()), people) == (kept, 3)
    assert counts(tmp_path, 9)[0] == {"a": 4, "b": 3, "c": 1}


def test_the_order_does_not_matter_and_the_key_does(tmp_path: Path) -> None:
    write(tmp_path, list("aabc"), 300)
    first = counts(tmp_path, 2)
    write(tmp_path, list("aabc"), 300, shuffle=1)
    assert counts(tmp_path, 2) == first
    assert counts(tmp_path, 2, bytes(32)) != first


@for_each(("wards", "rows"), [("aab", 2), ("abcc", 2), ("aaaab", 1)])
def test_every_set_of_rows_is_equally_likely(wards: str, rows: int, tmp_path: Path) -> None:
    """Of n rows every one is kept with probability m/n: the kept rows of a class are hypergeometric in the mean."""
    people = 6_000
    write(tmp_path, list(wards), people)
    found, _ = counts(tmp_path, rows)
    assert sum(found.values()) == rows * people
    for ward, times in Counter(wards).items():
        share, left = times / len(wards), (len(wards) - rows) / (len(wards) - 1)
        mean, variance = rows * share, rows * share * (1 - share) * left
        assert abs(found[ward] - people * mean) <= stats.norm.isf(FALSE_ALARM / 2) * np.sqrt(people * variance)


def test_points_of_one_block_count_once(tmp_path: Path) -> None:
    """Everybody has two points in one block and one in another; which of the two is left is chance."""
    frame = pd.DataFrame({"id": np.repeat(np.arange(400), 3), "x": [0.5, 3.5, 7.5] * 400})
    frame.to_parquet(tmp_path / "visits.parquet")
    text = POLICY.format(rows=2).replace("everybody", 'poisson"\nrate = "0.5').replace('"0.5"', "0.5")
    text = text.replace('ward = { values = ["a", "b", "c"] }', "x = { from = 0, to = 10, resolution = 1, width = 5 }")
    text = text.replace("epsilon = 1.0", "epsilon = 1.0\ndelta = 1e-6")
    policy = parse_policy(text.replace('"table"', '"points"\nnoise_epsilon = 1.0'), tmp_path)
    found = count_classes(policy, Everybody(row_key=DrawKey(KEY))).classes
    counts = dict(zip(found.codes[:, 0].tolist(), found.counts.tolist(), strict=True))
    assert counts[0] + counts[3] == counts[7] == 400
    # A fair coin for everybody: missed with a chance below one in a million.
    assert stats.binom.sf(counts[0], 400, 0.5) > FALSE_ALARM / 2
    assert stats.binom.cdf(counts[0], 400, 0.5) > FALSE_ALARM / 2
