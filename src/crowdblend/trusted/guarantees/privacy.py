"""The guarantees. Each is a value: equal when its parameters are, and never changed once made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from crowdblend.errors import InvalidInput
from crowdblend.trusted.guarantees.aggregates import Aggregate
from crowdblend.trusted.guarantees.parameters import CheckedFields
from crowdblend.trusted.guarantees.wording import at_most, close, exactly


class Relation(Enum):
    """The difference between two tables that a guarantee makes hard to tell apart."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"
    CONCEAL = "conceal"

    @property
    def words(self) -> str:
        """The relation for a reader who has never heard of one."""
        return _WORDS[self]

    def otherwise(self, people: int = 1) -> str:
        """Completes 'what it would be …': the other of two neighbouring tables."""
        return _OTHERWISE[self].format("the person" if people == 1 else f"any {people} people")


_WORDS = {
    Relation.ADD_REMOVE: "one person more or less in the table",
    Relation.REPLACE: "one person's data replaced by any other data",
    Relation.CONCEAL: "one person's data concealed (in a network: the links too)",
}
_OTHERWISE = {
    Relation.ADD_REMOVE: "without {}",
    Relation.REPLACE: "with any other data for {}",
    Relation.CONCEAL: "with the data of {} concealed",
}


@dataclass(frozen=True)
class Guarantee(CheckedFields):
    """A statement about a mechanism that holds for every table and every person."""

    strength: ClassVar[int] = 0
    """Order in a certificate: the strongest guarantee is named first. 0 is no guarantee of privacy."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, kind in (("relation", Relation), ("aggregate", Aggregate)):
            if not isinstance(getattr(self, name, kind), (kind, type)):
                raise InvalidInput(
                    f"{name} must be a {kind.__name__}, got {getattr(self, name)!r}. Pass one of its values."
                )

    def words(self) -> str:
        """Return the guarantee in a sentence."""
        raise NotImplementedError


@dataclass(frozen=True)
class CrowdBlending(Guarantee):
    """CBP Definition 4, of the mechanism that runs on the sample.

    Each person either blends with at least k people of the table, the person included, or could be removed
    without changing the output by more than a factor e^epsilon.
    """

    k: int
    epsilon: float

    strength: ClassVar[int] = 1

    def words(self) -> str:
        return (
            f"in the sample, each person blends into a crowd of {self.k} (the person included) "
            f"or matters by a factor of at most e^{at_most(self.epsilon)}"
        )


@dataclass(frozen=True)
class Differential(Guarantee):
    """(epsilon, delta)-indistinguishability of neighbouring tables, for groups of `people`.

    `samplings` says how many sampling steps the guarantee already contains; sampling strengthens it only once.
    """

    epsilon: float
    delta: float
    relation: Relation
    people: int = 1
    samplings: int = 0

    strength: ClassVar[int] = 3

    def words(self) -> str:
        bound = close(self.epsilon, self.delta, self.relation.otherwise(self.people))
        return f"differential privacy: whatever is published, its probability is {bound}"


@dataclass(frozen=True)
class ZeroKnowledge(Guarantee):
    """CBP Definition 2 and ZKP Definition 1: what is learned can be learned from the aggregate alone.

    The relation says how the person is kept out of the aggregate: removed (CBP) or concealed (ZKP).
    """

    epsilon: float
    delta: float
    aggregate: Aggregate
    relation: Relation
    people: int = 1

    strength: ClassVar[int] = 4

    def words(self) -> str:
        whom, seen = "you", self.aggregate.words()
        if self.people > 1:
            whom, seen = f"any {self.people} people together", seen.replace("you concealed", "all of them concealed")
        bound = close(self.epsilon, self.delta, f"from {seen}")
        return (
            f"zero-knowledge privacy: whatever is concluded about {whom} from the release, its probability is {bound}"
        )


@dataclass(frozen=True)
class DifferentialUnderSampling(Guarantee):
    """LQS Definition 3: the mechanism, run on a Poisson sample at this rate, is (epsilon, delta)-differential.

    The definition asks for delta < rate, since delta = rate is true of every mechanism; the kernel keeps the
    equality as well, so that a plan can say how little k = 1 guarantees.
    """

    rate: float
    epsilon: float
    delta: float
    relation: Relation = Relation.ADD_REMOVE

    strength: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.relation is not Relation.ADD_REMOVE:
            raise InvalidInput(
                f"Privacy under sampling must be stated for add-remove, got {self.relation.value}. "
                "Convert the sampled release instead (differential.replace)."
            )

    def words(self) -> str:
        bound = close(self.epsilon, self.delta, self.relation.otherwise())
        return (
            f"differential privacy under sampling: run on a sample that keeps each person independently with "
            f"probability {exactly(self.rate)}, whatever is published, its probability is {bound}"
        )


@dataclass(frozen=True)
class OutlierPrivate(Guarantee):
    """NOTES Definition 7 with the curve factor·ε(size), where ε(size) = transition·epsilon/(limit − size) below
    limit − transition and epsilon from there on; size counts the person."""

    epsilon: float
    transition: int
    limit: int
    factor: float
    delta: float
    relation: Relation = Relation.ADD_REMOVE

    strength: ClassVar[int] = 2

    def words(self) -> str:
        slack = f", plus {at_most(self.delta)}" if self.delta > 0 else ""
        return (
            "outlier privacy: for somebody in a crowd of j who blend (the person included), whatever is published, its "
            f"probability is at most e^({exactly(self.factor)}·ε(j)) times what it would be "
            f"{self.relation.otherwise()}{slack}, and vice versa; ε(j) grows with j up to {at_most(self.epsilon)} for "
            f"crowds of {self.limit - self.transition} and more"
        )
