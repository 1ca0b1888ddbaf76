"""Attacks can fail: a repaired target is not broken, and a release of ours that leaks is caught."""

import numpy as np
import pytest
from click.testing import CliRunner

from crowdblend.cli.main import cli
from crowdblend.lab.attacks import attack, differencing, duplicate, extreme_value, minimality
from crowdblend.methods.mechanisms import NoisyHistogram, PublishedClasses, SampledClasses, SuppressedHistogram
from tests.cases import for_each


def fixed_classes(width: int):
    """Safe generalization: ranges fixed before the data, and no group below k."""

    def recoding(rows: np.ndarray, k: int) -> list:
        blocks, sizes = np.unique(rows[:, 0] // width, return_counts=True)
        ends = [((int(block) * width, int(block) * width + width - 1),) for block in blocks]
        return [(end, int(size)) for end, size in zip(ends, sizes, strict=True) if size >= k]

    return recoding


def test_fixed_ranges_stop_the_extreme_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extreme_value, "mondrian", fixed_classes(5_000))
    found = extreme_value.ATTACK.launch(0)
    assert not any(found.broken(trial) for trial in found.trials[:1])


def test_fixed_ranges_stop_minimality(monkeypatch: pytest.MonkeyPatch) -> None:
    """One range for both diagnoses; with a range for each and no sampling, one person still decides."""
    monkeypatch.setattr(minimality, "mondrian", fixed_classes(2))
    assert not minimality.ATTACK.launch(0).target_broken
    monkeypatch.setattr(minimality, "mondrian", fixed_classes(1))
    assert minimality.ATTACK.launch(0).target_broken


def test_crowds_of_people_stop_the_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    def crowds(rows: list[str]) -> list[str]:
        return [row for row in rows if rows.count(row) >= duplicate.K]

    monkeypatch.setattr(duplicate, "publish_target", crowds)
    found = duplicate.ATTACK.launch(50)
    assert not found.broken(found.trials[0])
    assert found.trials[1].runs.hit.value == 0


def everything(self: SuppressedHistogram, sample: SampledClasses) -> PublishedClasses:
    """A sanitizer that forgot to suppress."""
    return PublishedClasses(sample.columns, sample.labels, sample.codes, sample.counts)


def plain(self: NoisyHistogram, sample: SampledClasses, key: bytes) -> PublishedClasses:
    """A sanitizer that forgot its noise."""
    return PublishedClasses(sample.columns, sample.labels, sample.codes, sample.counts)


@for_each("name", ["extreme-value", "duplicate", "empty-cells", "membership"])
def test_a_release_of_ours_that_leaks_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SuppressedHistogram, "publish", everything)
    monkeypatch.setattr(NoisyHistogram, "publish", plain)
    # One in four runs shows the person, and 80 of 1,000 would do: fewer than that come once in 10^40 times.
    found = attack(name).launch(1_000)
    assert not found.ours_hold
    assert not found.as_computed


@pytest.mark.parametrize("name", ["minimality", "same-sample"])
def test_a_leak_that_the_event_does_not_see_contradicts_what_was_computed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without suppression hepatitis is always shown, whoever has it: no guarantee breaks, and it is not what we do."""
    assert attack(name).launch(0).as_computed
    monkeypatch.setattr(SuppressedHistogram, "publish", everything)
    done = CliRunner().invoke(cli, ["attack", name, "--runs", "400"])
    assert done.exit_code == 1
    assert "Ours stays within its guarantee. BUT THE RUNS CONTRADICT" in done.stdout.replace("\n", " ")


def test_the_same_coins_twice_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """If ours drew the same sample for both releases, the difference would tell."""
    monkeypatch.setattr(differencing, "_fresh_coins", differencing._same_coins)
    # One in four pairs of samples tells, and 77 of 1,000 would do.
    assert not differencing.ATTACK.launch(1_000).ours_hold
