"""A theorem is data; a rule is the one function that applies it. Conditions on premises are refused alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, get_type_hints

from crowdblend.errors import InvalidInput, NotApplicable
from crowdblend.trusted.calculus.assumptions import Assumption, StepAssumption, in_order
from crowdblend.trusted.calculus.description import About, Description, Disagreement, UnprotectedPeople
from crowdblend.trusted.guarantees.parameters import PARAMETERS, check
from crowdblend.trusted.guarantees.privacy import Differential, Guarantee, Relation, ZeroKnowledge
from crowdblend.trusted.guarantees.profiles import Profile
from crowdblend.trusted.numerics.balls import precision

# Formulas are evaluated with this precision and rounded outward once, at the end.
RULE_BITS = 256


@dataclass(frozen=True)
class Theorem:
    """A claim, its source, and its assumptions. Ids keep their meaning for ever."""

    id: str
    source: str
    statement: str
    assumes: tuple[Assumption, ...] = ()


@dataclass(frozen=True)
class Rule:
    """One application of one theorem: from premises and parameters to a conclusion."""

    theorem: Theorem
    function: Callable[..., Guarantee]
    about: About
    """Which release the conclusion is about, and how the releases of the premises are related."""
    free: Mapping[str, str]
    """Parameters that do not describe the release, each with the reason why it may be anything."""

    @property
    def id(self) -> str:
        """The id of the theorem, which is that of the rule."""
        return self.theorem.id

    @property
    def why(self) -> str:
        """The reason why the conclusion holds, in one line: the docstring of the function."""
        return " ".join((self.function.__doc__ or "").split())

    # The function's signature says what a rule needs. There are many rules, and a release looks at few signatures.

    @cached_property
    def premises(self) -> tuple[type[Guarantee], ...]:
        """The kinds of the guarantees that it starts from."""
        return tuple(self._hints[parameter.name] for parameter in self._positional)

    @cached_property
    def repeats(self) -> bool:
        """True if it takes any number of premises of its last kind."""
        return any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in self._positional)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(one.name for one in self._signature if one.kind is inspect.Parameter.KEYWORD_ONLY)

    @cached_property
    def conclusion(self) -> type[Guarantee]:
        """The kind of the guarantee that it concludes."""
        kind: type[Guarantee] = self._hints["return"]
        return kind

    @cached_property
    def _signature(self) -> tuple[inspect.Parameter, ...]:
        return tuple(inspect.signature(self.function).parameters.values())

    @cached_property
    def _positional(self) -> tuple[inspect.Parameter, ...]:
        return tuple(one for one in self._signature if one.kind is not inspect.Parameter.KEYWORD_ONLY)

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.function)

    def __repr__(self) -> str:
        return f"<rule {self.id}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy the id alone; it names the rule of the process that reads it."""
        return rule_named, (self.id,)

    def conclude(self, *premises: Guarantee, **parameters: float | None) -> Any:
        """Apply the theorem to plain guarantees: the kind of what it concludes is `conclusion`."""
        self._check_premises(premises)
        with precision(RULE_BITS):
            try:
                return self.function(*premises, **self.normalize(parameters))
            except Unmet as unmet:
                raise NotApplicable(f"{self.id} {unmet}") from unmet

    def __call__(self, *premises: Derivation, **parameters: float | None) -> Derivation:
        """Apply the theorem to derived guarantees; the result remembers how it was derived."""
        return Derivation(self, self.normalize(parameters), premises)

    def own_assumptions(
        self, premises: Iterable[Guarantee], parameters: Mapping[str, float], conclusion: Guarantee
    ) -> list[StepAssumption]:
        """Return the assumptions of this application, with their numbers."""
        values = dict(vars(conclusion))
        for premise in premises:
            values |= vars(premise)
        values |= parameters
        return [assumption.with_numbers(values) for assumption in self.theorem.assumes]

    def accepts(self, *kinds: type[Guarantee]) -> bool:
        """Return whether the rule takes premises of these kinds."""
        wanted = self.premises * len(kinds) if self.repeats else self.premises
        return len(wanted) == len(kinds) > 0 and all(map(issubclass, kinds, wanted))

    def normalize(self, parameters: Mapping[str, float | None]) -> dict[str, float]:
        """Check every parameter by its name and give it its one numeric type."""
        if set(parameters) != set(self.parameters):
            wanted, given = ", ".join(self.parameters) or "none", ", ".join(parameters) or "none"
            raise InvalidInput(f"{self.id} takes the parameters {wanted}, got {given}. Pass exactly those.")
        return {name: _normal(name, parameters[name]) for name in self.parameters}

    def _check_premises(self, premises: tuple[Guarantee, ...]) -> None:
        kinds = tuple(type(premise) for premise in premises)
        if kinds != self.premises and not self.accepts(*kinds):
            wanted = ", ".join(kind.__name__ for kind in self.premises) or "no premise"
            given = ", ".join(kind.__name__ for kind in kinds) or "none"
            raise InvalidInput(f"{self.id} applies to {wanted}{' …' * self.repeats}, got {given}. Use another rule.")


@dataclass(frozen=True)
class Derivation:
    """A derivation of a guarantee: a rule, its parameters, and the derivations it rests on.

    The conclusion is computed here, so a derivation with a conclusion of one's own cannot be made; so is the
    description of the release that it is about, and premises that are not related as the rule says are refused.
    """

    rule: Rule
    parameters: Mapping[str, float]
    premises: tuple[Derivation, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.conclusion!r} by {self.rule.id}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy what it is derived from; the process that reads it derives it again."""
        return Derivation, (self.rule, dict(self.parameters), self.premises)

    @property
    def conclusion(self) -> Any:
        """The guarantee that was derived."""
        return self.__dict__["conclusion_"]

    @property
    def description(self) -> Description:
        """The description of the release that the guarantee is about."""
        described: Description = self.__dict__["description_"]
        return described

    def __post_init__(self) -> None:
        concluded = self.rule.conclude(*(premise.conclusion for premise in self.premises), **self.parameters)
        self.__dict__["conclusion_"] = concluded
        try:
            described = self.rule.about.describe(tuple(made.description for made in self.premises), self.parameters)
        except UnprotectedPeople as refused:
            raise NotApplicable(
                f"{self.rule.id} needs a release that protects whoever is asked, got {refused}. "
                "State it without exceptions."
            ) from refused
        except Disagreement as refused:
            raise NotApplicable(
                f"{self.rule.id} needs derivations about the same release, got {refused}. "
                "Derive all of them from one mechanism with the same parameters."
            ) from refused
        self.__dict__["description_"] = described

    def own_assumptions(self) -> list[StepAssumption]:
        """Return the assumptions of this step alone."""
        premises = (premise.conclusion for premise in self.premises)
        return self.rule.own_assumptions(premises, self.parameters, self.conclusion)

    def steps(self) -> Iterator[Derivation]:
        """This step and every step that it rests on."""
        yield self
        for premise in self.premises:
            yield from premise.steps()

    def assumptions(self) -> tuple[StepAssumption, ...]:
        """Return every assumption along the way, in the order of the enumeration."""
        return in_order(assumed for step in self.steps() for assumed in step.own_assumptions())


RULES: dict[str, Rule] = {}


def rule_named(rule_id: str) -> Rule:
    """Return the rule with this id."""
    return RULES[rule_id]


def rule(
    rule_id: str,
    *,
    source: str,
    statement: str,
    about: About,
    assumes: tuple[Assumption, ...] = (),
    free: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., Guarantee]], Rule]:
    """Register a function as the application of this theorem; its signature says what it needs."""

    def register(function: Callable[..., Guarantee]) -> Rule:
        if rule_id in RULES:
            raise ValueError(f"rule ids are unique, and {rule_id} is taken")
        RULES[rule_id] = Rule(Theorem(rule_id, source, statement, assumes), function, about, free or {})
        return RULES[rule_id]

    return register


def _normal(name: str, value: Any) -> float:
    if name not in PARAMETERS:
        if not isinstance(value, bool):
            raise InvalidInput(f"{name} must be true or false, got {value!r}. Pass a boolean.")
        return value
    check(name, value)
    # Adding 0.0 turns −0.0 into 0.0.
    return int(value) if PARAMETERS[name].whole else float(value) + 0.0


class Unmet(NotApplicable):
    """A condition that is not met, as a sentence without its subject: the rule that is applied puts its id there."""


def require(premise: Guarantee, remedy: str, **expectation: object) -> None:
    """Refuse a premise that has other values than these."""
    if any(getattr(premise, name) != value for name, value in expectation.items()):
        needed = " and ".join(f"{name} = {_show(value)}" for name, value in expectation.items())
        given = " and ".join(f"{name} = {_show(getattr(premise, name))}" for name in expectation)
        raise Unmet(f"needs {needed}, got {given}. {remedy}")


def require_one_person(premise: Differential | Profile, remedy: str) -> None:
    """Refuse a guarantee that is not for one person more or less."""
    require(premise, remedy, relation=Relation.ADD_REMOVE, people=1)


def require_unsampled(premise: Differential | Profile) -> None:
    """Refuse a guarantee that relies on sampling already: its sample is not the one that the rule draws."""
    if premise.samplings > 0:
        raise Unmet(
            f"needs a mechanism that has not sampled yet, got samplings = {premise.samplings}. "
            "Start from the guarantee of the mechanism that runs on the sample."
        )


def require_alike(premises: Sequence[Differential | Profile | ZeroKnowledge]) -> None:
    """Refuse to add guarantees of which one is about other neighbours than another."""
    if len({(premise.relation, premise.people) for premise in premises}) > 1:
        raise Unmet(
            "adds guarantees under one relation and for one group size. "
            "Convert them first (differential.replace, profile.replaced, differential.group)."
        )


def _show(value: object) -> str:
    return str(value.value) if isinstance(value, Enum) else f"{value:g}" if isinstance(value, float) else str(value)
