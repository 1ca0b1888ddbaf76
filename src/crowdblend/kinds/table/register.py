"""Tables of a register: everybody is in it, no sample is drawn, and every cell carries noise of pure ε.

One of many tables of a register, or of a sample, may have Gaussian noise instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb

from crowdblend.errors import Infeasible, InvalidInput
from crowdblend.kinds.shared.class_counts import ClassCountsPlan, ClassCountsReading
from crowdblend.kinds.shared.method import Method
from crowdblend.kinds.shared.outputs import ESTIMATES, NumbersOutput, Output, counts_output
from crowdblend.kinds.shared.plan import Lines, Result
from crowdblend.kinds.table.facts import EverywhereFacts
from crowdblend.kinds.table.policy import TablePolicy
from crowdblend.methods.estimates.cells import noise_error, total_intervals
from crowdblend.methods.mechanisms.everywhere import GaussianEverywhere, NoiseEverywhere, NoisyTotal
from crowdblend.policies.unit import ROWS
from crowdblend.sources.engines.engine import Progress
from crowdblend.trusted.calculus.rules import composition
from crowdblend.trusted.guarantees.wording import three_digits
from crowdblend.trusted.numerics.balls import precision, round_down
from crowdblend.trusted.randomness import ReleaseKey
from crowdblend.trusted.randomness.noise import SMALLEST_EPSILON

# Of ε, what each of the two totals gets where a person may have several rows; the rest is for the cells.
TOTAL_SHARE = 0.05


@dataclass(frozen=True, repr=False)
class RegisterPlan(ClassCountsPlan[TablePolicy]):
    """The plan of a table with noise on every cell; nothing is left open but how the loss is divided.

    `epsilon` is the loss of the noise to everybody who is counted: all people of a register, or those of a sample.
    With `sigma` the noise is Gaussian, and what it loses is known together with that of other tables.
    """

    policy: TablePolicy
    epsilon: float
    sigma: float | None = None

    @property
    def mechanisms(self) -> tuple[NoiseEverywhere | GaussianEverywhere | NoisyTotal, ...]:
        if self.sigma is not None:
            return (GaussianEverywhere(self.sigma),)
        if not self.policy.unit.several:
            return (NoiseEverywhere(self.epsilon),)
        rows = self.policy.unit.most
        # One of several publications has no totals: each would be published, and paid for, several times.
        total = 0.0 if self.policy.with_others else TOTAL_SHARE * self.epsilon
        with precision(128):
            per_row = round_down((arb(self.epsilon) - 2 * arb(total)) / rows)
            per_total = round_down(arb(total) / rows)
        totals = (NoisyTotal("rows", per_total, rows), NoisyTotal("people", total, 1)) if total else ()
        # The rules round up what they add, so the cells give way until the sum is within what the policy allows.
        while True:
            found = NoiseEverywhere(per_row, rows), *totals
            claims = [one.claim() for one in found]
            spent = composition.steps_add_up(*claims) if totals else claims[0]
            if spent.conclusion.epsilon <= self.epsilon:
                return found
            per_row = math.nextafter(per_row, 0.0)

    def facts(self, publication: Result | None = None) -> EverywhereFacts:
        # How many rows of a person count is a parameter of the noise.
        cells, *others = self.mechanisms if publication is None else publication.mechanisms
        assert isinstance(cells, NoiseEverywhere | GaussianEverywhere)
        return EverywhereFacts(
            **{name: fact for name, fact in self.common_facts().items() if name != ROWS},
            epsilon=self.policy.epsilon or self.epsilon if self.policy.releases > 1 else self.epsilon,
            delta=0.0,
            releases=self.policy.releases,
            mechanism=cells,
            totals=tuple(one for one in others if isinstance(one, NoisyTotal)),
            count="people" if self.policy.publication.count == "people" else "rows",
        )

    def describe(self) -> Lines:
        policy, unit = self.policy, self.policy.unit
        cells = self.mechanisms[0]
        assert isinstance(cells, NoiseEverywhere | GaussianEverywhere)
        noise = "Laplace" if self.sigma is None else "Gaussian"
        kept = "everybody is counted; no sample is drawn"
        if policy.sampling.rate is not None:
            kept = f"a sample at rate {policy.sampling.rate}"
        if unit.several:
            kept = f"everybody is counted, with at most {unit.most} random rows each; no sample is drawn"
            if unit.counts_people:
                kept = f"everybody is counted once in each of at most {unit.most} random classes; no sample is drawn"
        lines = [
            *self.describe_reading(),
            ("would sample", kept),
            ("would publish", f"a table of {policy.cells:,} cells, all of them with {noise} noise"),
            ("", f"a cell is off by up to {noise_error(cells.law)} (95 %), whatever its size"),
        ]
        if (thin := self._thin_cells) is not None:
            lines.append(("", thin))
        if len(self.mechanisms) > 1:
            lines.append(("", "the number of rows kept and the number of people, noisy as well"))
        return lines

    @property
    def _thin_cells(self) -> str | None:
        """A sentence on cells with fewer people than their error, where the policy says how many people there are."""
        policy, off = self.policy, noise_error(self.mechanisms[0].law)
        if policy.people is None or policy.cells is None or off is None:
            return None
        average = policy.people * (policy.sampling.rate or 1.0) / policy.cells
        if average >= off:
            return None
        return (
            f"the average cell has {three_digits(average)} {self.counted.many}, fewer than its error: publish several "
            'smaller tables with `privacy.split = "budget"`, or synthetic rows'
        )

    def cell_error(self) -> float:
        cells = self.mechanisms[0]
        assert isinstance(cells, NoiseEverywhere | GaussianEverywhere)
        return cells.expected_error()

    def alone(self) -> TablePolicy:
        if not self.policy.sampling.everybody or self.sigma is not None:
            message = 'With `privacy.split = "budget"` this publication has noise that it has not by itself.'
            remedy = 'Look at it with `privacy.split = "people" | "fresh"`.'
            raise InvalidInput(message, remedy=remedy, where="publication", code="policy.publication")
        return self.policy.replace(epsilon=self.epsilon)

    def publish(self, reading: ClassCountsReading, key: ReleaseKey, progress: Progress | None = None) -> Result:
        cells, *totals = mechanisms = self.mechanisms
        counted, people = reading.sample, reading.counted.people
        assert isinstance(cells, NoiseEverywhere | GaussianEverywhere)
        published = cells.publish(counted, key)
        outputs: list[Output] = [counts_output(self.policy, published, self.facts())]
        if totals:
            true = {"rows": counted.people, "people": people}
            noisy = [made for made in totals if isinstance(made, NoisyTotal)]
            numbers = [made.publish(true[made.name], key) for made in noisy]
            # Each with the interval by the law of its own noise.
            found = total_intervals([made.noise_epsilon for made in noisy], np.array(numbers, np.int64))
            ends = {name: getattr(found, name).tolist() for name in ESTIMATES}
            columns = {"total": [made.name for made in noisy], "count": numbers, **ends}
            outputs.append(NumbersOutput(f"totals.{self.policy.format}", columns, ("total",)))
        internal = {"people": people, "rows_kept": counted.people}
        return Result(tuple(outputs), tuple(mechanisms), internal=internal)


class EverywhereMethod(Method[TablePolicy]):
    """Noise on every cell of a closed domain, whatever its size, so that nobody needs a sample to hide in."""

    def plan(self) -> RegisterPlan:
        """The plan of a register; refuses a loss too small to be drawn, before anything is spent."""
        policy = self.policy
        assert policy.epsilon is not None, "a register has an epsilon"
        with precision(128):
            return _drawable(RegisterPlan(policy, round_down(arb(policy.epsilon) / policy.releases)))

    def plan_noisy(self, epsilon: float, delta: float) -> RegisterPlan:
        self._check_cells()
        return _drawable(RegisterPlan(self.policy, epsilon))

    def plan_gaussian(self, sigma: float) -> RegisterPlan | None:
        self._check_cells()
        # Many rows of a person would cost δ of their own, more than they gain.
        return None if self.policy.unit.several else RegisterPlan(self.policy, 1 / sigma, sigma)

    def _check_cells(self) -> None:
        """Refuse too many cells, and keys that the plan would ignore."""
        if not self.policy.cells_are_listed:
            raise not_noisy()
        table = self.policy.publication
        said = next((name for name in ("k", "noise_epsilon", "flag", "show_from") if getattr(table, name)), None)
        if said is not None:
            message = f'`privacy.split = "budget"` plans the noise of every cell, and {said} would be ignored.'
            remedy = f'Remove {said}, or write `privacy.split = "people" | "fresh"`.'
            raise InvalidInput(message, remedy=remedy, where=f"`publish.{said}`", code="plan.not-noisy")


def not_noisy() -> InvalidInput:
    """Return the refusal of a table that cannot have noise on every cell."""
    message = (
        '`privacy.split = "budget"` takes tables with noise on every cell of a closed domain of up to a million cells.'
    )
    remedy = 'Write `publish.below_k = "noise"`, and coarser classes where there are more.'
    return InvalidInput(message, remedy=remedy, where="`publish.below_k`", code="plan.not-noisy")


def _drawable(plan: RegisterPlan) -> RegisterPlan:
    """Return the plan; refuses noise too small to be drawn, before the budget is divided.

    The division takes no end where a double has no smaller neighbour.
    """
    unit = plan.policy.unit
    least = TOTAL_SHARE * plan.epsilon / unit.most if unit.several else plan.epsilon
    if least < 2 * SMALLEST_EPSILON:
        rows = f" with {unit.most} rows per person" if unit.several else ""
        raise Infeasible(
            f"`epsilon = {plan.epsilon:g}`{rows} leaves less than "
            f"{float(2 * SMALLEST_EPSILON):.1g} to the noise on a number.",
            remedy="Raise epsilon.",
            where="`privacy.epsilon`",
            code="plan.epsilon-too-small",
        )
    return plan
