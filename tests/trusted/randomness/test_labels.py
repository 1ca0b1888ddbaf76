"""One law over all kinds: a release never derives the same stream twice.

Two numbers from one stream are one number. So every derivation from the key of a release is recorded, at the one place
where all of them pass, and a repeat fails. Coins that are flipped for persons are functions, the same for everybody and
at every pass over the rows; they are not streams, and may be asked again.
"""

from collections import Counter
from pathlib import Path

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.kinds import plan
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines.choice import default_engine
from crowdblend.trusted.randomness import ReleaseKey, source
from tests.cases import some_daily
from tests.golden.releases import KEY, POLICIES

PERSONS = b"person\0"
# By it a table that was already drawn is known again; nothing is drawn by it.
PUBLIC = b"the people of a table, summed up"
# The two parts of a sample without persons are the two sides of one draw.
BOTH_SIDES = b"stream\0choosing part of the finest classes"
Derived = Counter[tuple[bytes, bytes]]

SPLIT_ROWS = POLICIES["table-split"].replace('person = "person_id"', "rows_are_people = true")
NOISY_CHOICE = POLICIES["table-population"].replace('kind = "table"\n', 'kind = "table"\nbelow_k = "noise"\n')
TWO_WAYS = (
    POLICIES["statistics-rows"].replace("people = 2000", "people = 1000").replace("epsilon = 1.0", "epsilon = 4.0")
    + '[[publish.statistics]]\nname = "men"\nweight = 49\ncount = { sex = "male" }\n'
)
FOUR_STATISTICS = POLICIES["graph"] + "".join(
    f'[[publish.statistics]]\nname = "{name}"\nsamples = 700\n' for name in ("cycle-freeness", "eulerian")
)
EVERY = {
    **POLICIES,
    "table-split-rows": SPLIT_ROWS,
    "table-noisy-choice": NOISY_CHOICE,
    "statistics-two-ways": TWO_WAYS,
    "graph-four": FOUR_STATISTICS.replace("epsilon = 8.0", "epsilon = 40\naccept_epsilon = true").replace(
        "1400", "700"
    ),
}
for _name in ("table", "table-drawn", "table-split", "statistics", "synopsis"):
    EVERY[_name.replace("table", "table-text") if "table" in _name else f"{_name}-text"] = (
        POLICIES[_name].replace("town.parquet", "town.csv").replace('"person_id"', '"name"')
    )
EVERY["statistics-text-both"] = TWO_WAYS.replace("town.parquet", "town.csv").replace(
    "rows_are_people = true", 'person = "name"'
)
EVERY["table-text-one"] = EVERY["table-text"].replace('"name"\n', '"name"\nduplicates = "one"\n')
EVERY["table-noise-cut"] = POLICIES["table-noise"] + "show_from = 5\n"
# What must not share its randomness, by kind: streams that are all there, each under a label of its own.
APART = {
    "table-noise": {"noise below k", "empty cells: noise"},
    "table-noise-cut": {"noise below k", "empty cells: places", "empty cells: values"},
    "table-noisy-choice": {"choosing the recoding", "noise below k", "empty cells: noise"},
    "table-split-rows": {
        "release, thinning of the finest classes",
        "choosing part of the finest classes",
        "choosing the recoding",
    },
    "statistics-two-ways": {"which rows are drawn", "noise on totals, sample", "noise on totals, everybody"},
    "synopsis": {"synopsis: who is drawn", "synopsis: noise, choice and rows"},
    "synopsis-chosen": {"synopsis: who is drawn", "synopsis: noise, choice and rows"},
    "graph-four": {f"noise of network statistic {place}" for place in range(4)},
}


@pytest.fixture
def derived(monkeypatch: pytest.MonkeyPatch) -> Derived:
    """What was derived: how often from which key and with which label."""
    found: Derived = Counter()
    derive = source.HKDF  # type: ignore[attr-defined]

    def recorded(*, info: bytes, **given: object) -> object:
        made = derive(info=info, **given)

        class Recorded:
            def derive(self, key: bytes) -> bytes:
                found[key, info] += 1
                return made.derive(key)

        return Recorded()

    monkeypatch.setattr(source, "HKDF", recorded)
    return found


def publish(text: str, sources: Path, key: bytes = KEY) -> None:
    planned, release_key = plan(parse_policy(text, sources)), ReleaseKey(key)
    planned.publish(planned.read(default_engine(), release_key), release_key)


@pytest.mark.parametrize("name", some_daily(EVERY, 18))
def test_no_stream_is_derived_twice(name: str, sources: Path, derived: Derived) -> None:
    publish(EVERY[name], sources)
    # Nothing is random about a table that was drawn before and is only suppressed.
    assert bool(derived) == (name != "table-drawn")
    often = {label for (_, label), times in derived.items() if times > 1 and not label.startswith(PERSONS)}
    assert often <= {BOTH_SIDES}
    streams = [label.removeprefix(b"stream\0").decode() for _, label in derived if label.startswith(b"stream\0")]
    assert name not in APART or sorted(streams) == sorted(APART[name])


def test_the_part_that_chooses_is_drawn_by_another_coin(sources: Path, derived: Derived) -> None:
    publish(EVERY["table-split"], sources)
    coins = {key for key, label in derived if label == PERSONS + b"number"}
    assert len(coins) == 2
    assert KEY in coins


WITH_NAMES = (
    "table-text",
    "table-text-drawn",
    "table-text-one",
    "table-text-split",
    "statistics-text",
    "statistics-text-both",
    "synopsis-text",
)


@pytest.mark.parametrize("name", WITH_NAMES)
def test_marks_of_persons_have_a_secret_of_the_release(name: str, sources: Path, derived: Derived) -> None:
    """Who could compute marks could look for people who share one; two releases have no secret in common."""
    publish(EVERY[name], sources)
    one = {key for key, label in derived if label.startswith(PERSONS)}
    derived.clear()
    publish(EVERY[name], sources, bytes(32))
    other = {key for key, label in derived if label.startswith(PERSONS)}
    assert one
    assert one & other <= {PUBLIC}


def test_a_reading_is_published_once(sources: Path) -> None:
    """The same noise on other numbers would cancel out."""
    planned, key = plan(parse_policy(POLICIES["table-noise"], sources)), ReleaseKey(KEY)
    reading = planned.read(default_engine(), key)
    planned.publish(reading, key)
    with pytest.raises(InvalidInput, match="already in use"):
        planned.publish(reading, key)
