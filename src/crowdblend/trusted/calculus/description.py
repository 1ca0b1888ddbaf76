"""Descriptions of the release that a derivation is about.

A derivation proves its guarantee of every release that fits a description: how it is built (`name` and `parts`) and
with which numbers (`details`). What a theorem does not look at is left open: details that it does not name, and parts
where it names none. Whatever fits `agree(one, other)` fits both descriptions; where they contradict each other,
a step is refused. So a theorem with several premises says how the releases of its premises are related (`About`), and a
derivation checks it: alternatives are about one and the same release, up to every weight, rate and repetition, and what
is published together becomes a description of its own (docs/proofs.md#which-release).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Protocol

from crowdblend.errors import NotApplicable

Details = tuple[tuple[str, Any], ...]
SAMPLED, BIASED, DRAWN = "sampled", "sampled.biased", "drawn"
EXCEPTIONS = "exceptions"


class Disagreement(NotApplicable):
    """No release fits both descriptions."""


class UnprotectedPeople(Disagreement):
    """Some people of the release are exceptions, where a theorem allows none."""


@dataclass(frozen=True)
class Description:
    """A set of releases: all that are built in this way with these numbers."""

    name: str
    details: Details = ()
    parts: tuple[Description, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "details", tuple(sorted(self.details)))

    def values(self, name: str) -> Iterator[Any]:
        """Yield every value of a detail, here and in the parts."""
        yield from (value for detail, value in self.details if detail == name)
        for part in self.parts:
            yield from part.values(name)

    def to_dict(self) -> dict[str, object]:
        """Return the description as JSON-ready data."""
        return {"name": self.name, "details": dict(self.details), "parts": [part.to_dict() for part in self.parts]}


def agree(one: Description, other: Description) -> Description:
    """Return the description that fits both; raise Disagreement if they contradict each other.

    >>> noisy = Description("histogram.noisy", (("k", 20),))
    >>> agree(noisy, Description("histogram.noisy", (("flag", False),))).details
    (('flag', False), ('k', 20))
    """
    if one.name != other.name:
        raise Disagreement(f"{one.name} and {other.name}")
    if one.parts and other.parts and len(one.parts) != len(other.parts):
        raise Disagreement(f"{one.name} of {len(one.parts)} and of {len(other.parts)} releases")
    details = dict(one.details)
    for name, value in other.details:
        if details.setdefault(name, value) != value:
            raise Disagreement(f"{name} = {details[name]} and {name} = {value} of {one.name}")
    # A description without parts leaves them open.
    both = zip(one.parts, other.parts, strict=True) if one.parts and other.parts else ()
    parts = tuple(agree(*pair) for pair in both) or one.parts or other.parts
    return Description(one.name, tuple(details.items()), parts)


def agreed_within(whole: Description, other: Description) -> Description:
    """The same, where the other may also be about the mechanism that runs on the sample."""
    try:
        return agree(whole, other)
    except Disagreement:
        if whole.name not in (SAMPLED, BIASED, DRAWN):
            raise
    return replace(whole, parts=(agreed_within(whole.parts[0], other),))


class About(Protocol):
    """A rule's way from the descriptions of its premises and its parameters to its own."""

    @property
    def details(self) -> tuple[str, ...]:
        """The parameters that describe the release, in whichever part of it."""

    def describe(self, premises: tuple[Description, ...], parameters: Mapping[str, float]) -> Description:
        """Return the description of the conclusion; raise Disagreement if the premises do not fit."""


@dataclass(frozen=True)
class Mechanism:
    """A rule without premises: it describes a release by itself, possibly one inside another."""

    name: str
    own: tuple[str, ...] = ()
    fixed: Details = ()
    inside: Mechanism | None = None

    @property
    def details(self) -> tuple[str, ...]:
        """The details of this mechanism and of the mechanism inside."""
        return self.own + (self.inside.details if self.inside else ())

    def describe(self, _premises: tuple[Description, ...], parameters: Mapping[str, float]) -> Description:
        """Return the mechanism with its parameters."""
        parts = (self.inside.describe((), parameters),) if self.inside else ()
        return Description(self.name, (*_pick(self.own, parameters), *self.fixed), parts)


@dataclass(frozen=True)
class SameRelease:
    """All premises are about one and the same release, and so is the conclusion; the rule may know more details."""

    details: tuple[str, ...] = ()
    fixed: Details = ()

    def describe(self, premises: tuple[Description, ...], parameters: Mapping[str, float]) -> Description:
        """Return the description on which all premises agree, with the details that this rule adds."""
        whole = reduce(agree, premises)
        return agree(whole, Description(whole.name, (*_pick(self.details, parameters), *self.fixed)))


@dataclass(frozen=True)
class Composite:
    """The conclusion is about a release made of others: of one for every group of premises.

    Premises of one group are about the same release; without groups every premise is about one of its own. Of `shared`
    details, all releases have the same values. With `protects_all` nobody is an exception, in any part of them.
    """

    name: str
    details: tuple[str, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()
    shared: tuple[str, ...] = ()
    fixed: Details = ()
    protects_all: bool = False

    def describe(self, premises: tuple[Description, ...], parameters: Mapping[str, float]) -> Description:
        """Return the releases of the groups as parts of one."""
        groups = self.groups or tuple((place,) for place in range(len(premises)))
        parts = tuple(reduce(agree, (premises[place] for place in group)) for group in groups)
        made = Description(self.name, (*_pick(self.details, parameters), *self.fixed), parts)
        for name in self.shared:
            values = sorted(set(made.values(name)))
            if len(values) > 1:
                raise Disagreement(" and ".join(f"{name} = {value}" for value in values))
        if self.protects_all and any(made.values(EXCEPTIONS)):
            raise UnprotectedPeople(f"{EXCEPTIONS} = {max(made.values(EXCEPTIONS))}")
        return made


@dataclass(frozen=True)
class SeesSamples:
    """The conclusion is about one mechanism that sees several samples at once, of which every step adds one.

    The first part is the mechanism, and the others are the samples, each called `of`.
    """

    name: str
    of: str
    details: tuple[str, ...]

    def describe(self, premises: tuple[Description, ...], parameters: Mapping[str, float]) -> Description:
        """Return the mechanism of the premise with this sample, and with those that it has already."""
        (premise,) = premises
        sample = Description(self.of, _pick(self.details, parameters))
        parts = premise.parts if premise.name == self.name else (premise,)
        return Description(self.name, (), (*parts, sample))


@dataclass(frozen=True)
class SampledAnew:
    """The release of the premise, with its sample drawn at another rate."""

    details: tuple[str, ...] = ("rate",)

    def describe(self, premises: tuple[Description, ...], parameters: Mapping[str, float]) -> Description:
        """The outermost samples get the new rate; a random choice has one on each side."""
        return self._sampled_anew(premises[0], parameters["rate"])

    def _sampled_anew(self, old: Description, rate: float) -> Description:
        if old.name == SAMPLED:
            return replace(old, details=tuple((dict(old.details) | {"rate": rate}).items()))
        return replace(old, parts=tuple(self._sampled_anew(part, rate) for part in old.parts))


def mechanism(name: str, *details: str, inside: Mechanism | None = None, **fixed_details: float | str) -> Mechanism:
    """Return a mechanism that these parameters describe, and these constants."""
    return Mechanism(name, details, tuple(fixed_details.items()), inside)


def same_release(*details: str, **fixed_details: float | str) -> SameRelease:
    """One release for all premises and the conclusion; these parameters describe it further."""
    return SameRelease(details, tuple(fixed_details.items()))


def _pick(names: tuple[str, ...], parameters: Mapping[str, float]) -> Details:
    return tuple((name, parameters[name]) for name in names)


# Forms of releases that several chapters describe.
STATISTIC = "statistic"
# What a statistic measures, and the noise that it is published with.
DISTANCE, DEGREE = "distance", "degree"
LAPLACE, GRID = "Laplace", "discrete Laplace on a grid"

UNDER_SAMPLING = Composite(SAMPLED, ("rate",))
UNDER_BIAS = Composite(BIASED, ("low", "high", EXCEPTIONS, "max_rate"))
OF_DRAWN = Composite(DRAWN, ("samples", "population"))
OF_SURVEY = Composite(DRAWN, ("samples", "population"), protects_all=True)
RELEASES = Composite("releases")

NOISY_BELOW_K = mechanism("histogram.noisy", "k", "noise_epsilon", "flag")
NOISY_POINTS = mechanism("points.noisy", "k", "noise_epsilon")

# Why some parameters describe no release.
TARGET = "the epsilon that delta is computed for; the guarantee names it"
NAMED = "the guarantee names it"
SIMULATOR = "what the simulator looks at; the guarantee names it"
PROVED = "chosen for the proof; the conclusion names it"
