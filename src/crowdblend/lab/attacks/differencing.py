"""Two releases and a subtraction: yesterday's table minus today's is the person who left."""

from __future__ import annotations

from fractions import Fraction

from crowdblend.lab.attacks.ours import OurTable, chance_of_more, drawn, our_table, published_law, repeat_sizes
from crowdblend.lab.attacks.trial import Attack, Trial, exactly, in_runs, unsafe
from crowdblend.reading.figures.charts import Axis, Line, LineChart

STAYED = 200
SIZES = (60, 80, 100, 130, 160, 200, 260, 320, 400, 500)


def trials(runs: int) -> tuple[Trial, ...]:
    """Return releases of a department of 200 who stay; the first has the person in it or not, the second has not."""
    ours = our_table()
    return (
        unsafe("exact counts of everybody, k = 20", exactly(Fraction(1), Fraction(0))),
        unsafe(
            f"the same sample at {ours.rate:g} twice, k = {ours.k}",
            exactly(_one_sample(ours), Fraction(0)),
            in_runs(runs, lambda person: _same_coins(ours, person, runs)),
            ours.bound().twice("the sum of both, which needs two samples"),
        ),
        Trial(
            f"ours, k = {ours.k}, of fresh samples at {ours.rate:g}",
            True,
            ours.bound(),
            exactly(_fresh(ours, STAYED, 1), _fresh(ours, STAYED, 0)),
            in_runs(runs, lambda person: _fresh_coins(ours, person, runs)),
        ),
    )


def _one_sample(ours: OurTable) -> Fraction:
    """The counts differ when the person was sampled and the others alone are shown; a crowd that just falls below k
    makes a difference too."""
    others = published_law(STAYED, Fraction(ours.rate), ours.k - 1)
    return Fraction(ours.rate) * (1 - others[0])


def _same_coins(ours: OurTable, person: bool, runs: int) -> int:
    """Return the attack's count where everybody keeps the coin of the first release (a reused key)."""
    sample = drawn(runs, STAYED + 1, ours.rate)
    today = sample[:, :STAYED].sum(axis=1)
    yesterday = today + (sample[:, STAYED] if person else 0)
    first, second = (ours.sanitize(counts.reshape(-1, 1)) for counts in (yesterday, today))
    return int((first > second).sum())


def _fresh(ours: OurTable, others: int, more: int) -> Fraction:
    """Return the chance that the first count is larger than the second, with this many more people in it."""
    return chance_of_more(*(published_law(people, Fraction(ours.rate), ours.k) for people in (others + more, others)))


def _fresh_coins(ours: OurTable, person: bool, runs: int) -> int:
    first, second = (ours.publish(repeat_sizes(runs, people)) for people in (STAYED + person, STAYED))
    return int((first > second).sum())


def _chart() -> LineChart:
    # What a guarantee allows depends on the chance without the person, which is 0 for the upper two: one line for all
    # would say that a quarter is allowed.
    ours = our_table()
    return LineChart(
        [
            Line("exact counts of everybody", [(people, 1.0) for people in SIZES]),
            Line("one sample, published twice", [(people, ours.rate) for people in SIZES]),
            Line(
                "ours, fresh samples",
                [(people, float(_fresh(ours, people, 1) - _fresh(ours, people, 0))) for people in SIZES],
            ),
        ],
        x=Axis("people who stayed", log=True),
        y=Axis("advantage of the attacker", log=True),
        title="What a subtraction tells",
        subtitle=f"Chance of a larger first count, with the person minus without. Sampled at {ours.rate:g}.",
    )


ATTACK = Attack(
    name="differencing",
    title="Two releases and a subtraction",
    source="the oldest attack on tables",
    story="An office publishes how many people of a department are on sick leave for a certain reason, and next "
    "month publishes it again. Only one person left the department in between. Both tables show large crowds and "
    "nothing else, and the difference between them is that person. The same happens when one sample is published in "
    "two versions: whoever was taken out between them is the difference. A fresh sample for every release makes the "
    "two counts differ by chance, and by more than one person could.",
    event="the first count is larger than the second",
    question="How often is the first count larger?",
    worlds=("the person left between the releases", "was never there"),
    trials=trials,
    guarantee=lambda: our_table().bound(),
    remark="The second of our releases has the person in neither world, so the guarantee of the first alone must hold, "
    "not only the sum of both. A sample that was drawn before is released once: the ledger refuses the same "
    "people again, but a copy with somebody taken out looks like another sample to it.",
    chart=_chart,
)
