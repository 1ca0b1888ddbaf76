"""Facts: what a release says of itself, as a frozen value of its kind's class.

They hold parameters, and nothing that follows from them: the certificate is `derive(facts)`, here and in `verify`, and
whatever readers are told is computed from the same value. They are written by the mechanisms and the draw that ran,
never by the policy. Anyone can write a certificate and its digest, so facts may be of any form; what does not fit the
class is refused here, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar, Union

import msgspec

from crowdblend.errors import CrowdblendError, DoesNotVerify
from crowdblend.methods.designs import DESIGNS, Design
from crowdblend.methods.estimates.nouns import NOUNS, PEOPLE, ROWS, Noun, noun_of
from crowdblend.policies.registry import WHOLES, is_kind, kind_of, part
from crowdblend.policies.unit import Unit
from crowdblend.trusted.calculus import Assumption, Certificate, Derivation
from crowdblend.trusted.calculus.rules import composition
from crowdblend.trusted.guarantees.privacy import Differential, Relation
from crowdblend.trusted.machine.type_resolution import resolve
from crowdblend.trusted.numerics.balls import total

if TYPE_CHECKING:
    from crowdblend.methods.designs.design import Claims
    from crowdblend.methods.estimates.cells import CellLaws
    from crowdblend.methods.estimates.laws import Law
    from crowdblend.methods.recoding.domain import Domain

CONTRADICTION = "data-contradict"
OTHER_BUDGET = "a publication has another budget than its programme"
# The file of a publication without a name, and its table.
DATA = "data"
Epsilon = Annotated[float, msgspec.Meta(ge=0)]
Delta = Annotated[float, msgspec.Meta(ge=0, le=1)]
Share = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]
# The design of any sample, told apart by its name.
if TYPE_CHECKING:
    AnyDesign = Design
else:
    AnyDesign = Union[DESIGNS]  # noqa: UP007 the list is a value
# What follows from parameters and is worth a line of its own in a report: name and value.
Parameters = dict[str, "float | str | bool"]
FactsT = TypeVar("FactsT", bound="ReleaseFacts")


class Fact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A part of facts: what it does not name is refused, and what is as usual is not written."""


@dataclass(frozen=True)
class CellTable:
    """One published table of cells: its columns, how its cells are read, and by which laws they are shown.

    There is one law, or one for every stratum. `flagged` tables say which of their cells are exact.
    """

    columns: Mapping[str, Domain]
    laws: CellLaws
    shown_by: tuple[Law, ...] = ()
    flagged: bool = False


class ReleaseFacts(Fact, frozen=True, kw_only=True, tag_field="kind"):
    """Facts of releases of every kind."""

    rows_are_counted: ClassVar[bool | None] = None
    """True if rows of the data are cells with counts, False if they are people; None where they are neither."""
    loss_follows_from_domains: ClassVar[bool] = True
    """False where the certified loss is the same for all domains that could have been proposed from the data."""

    software: dict[str, str]
    person: str | None = None
    unit_word: Annotated[str, msgspec.Meta(pattern=rf"\A{NOUNS}\Z")] | None = None
    """What a row is, in the plural; people unless it is given."""
    about: dict[str, str] = msgspec.field(default_factory=dict)
    date: str | None = None
    run: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")] | None = None
    """The name of this release among all of its policy: it follows from the key, and tells nothing of it."""
    files: dict[str, str] = msgspec.field(default_factory=dict)
    proposed: tuple[dict[str, Any], ...] = ()
    """The facts of earlier releases about everybody that proposed labels and bounds of this one."""

    @classmethod
    def class_of(cls, document: Mapping[str, Any]) -> type[ReleaseFacts]:
        """Return the class of the facts in a certificate, of a kind that has one for each of its methods."""
        del document
        return cls

    def check(self) -> None:
        """Refuse facts of one publication that contradict each other, whatever they guarantee."""

    def derivations(self) -> tuple[Derivation, ...]:
        """Derive the guarantees from these facts alone, the strongest first."""
        raise NotImplementedError

    def among_others(self, epsilon: float, delta: float) -> Self:
        """Return the facts of one of several publications, which has the budget of all of them."""
        return self

    def check_among_others(self, epsilon: float, delta: float) -> None:
        """Refuse facts that one of several publications under this budget cannot have."""

    def ran_on_parts(self, share: float) -> list[tuple[Sequence[Claims], float]]:
        """Return what ran on this share of a sample, by the parts of it that the publication has."""
        return [(self.mechanisms, share)]

    @property
    def already_drawn(self) -> bool:
        """True if the sample was drawn before, so that its rates are an assumption of the steward."""
        return self.sample is not None and self.sample.already_drawn

    @property
    def assumption(self) -> Assumption | None:
        """The assumption about a sample drawn earlier."""
        return None if self.sample is None else self.sample.assumption

    @property
    def kind(self) -> str:
        """The kind of publication: table, microdata, points and so on."""
        return str(self.__struct_config__.tag)

    @property
    def sample(self) -> Design | None:
        """The design of the sample; None where nobody is drawn beforehand."""
        return None

    @property
    def mechanisms(self) -> tuple[Claims, ...]:
        """The mechanisms that ran, where they are those of one publication."""
        return ()

    @property
    def claims(self) -> tuple[Claims, ...]:
        """The mechanisms as they are claimed to people, who may have several rows."""
        return tuple(map(self.unit.claimed, self.mechanisms))

    @property
    def unit(self) -> Unit:
        """Whose data are protected, and which rows of a person count."""
        return Unit()

    @property
    def publications(self) -> Mapping[str, ReleaseFacts]:
        """The publications by name: the one, or all of a programme."""
        return {DATA: self}

    @property
    def own_parameters(self) -> Parameters:
        """The parameters of one of several publications, whose budget is that of all of them."""
        return {name: value for name, value in self.parameters.items() if name not in ("epsilon", "delta", "releases")}

    @property
    def notes(self) -> list[str]:
        """Sentences on the numbers of a release that has no table of people in cells."""
        return []

    @property
    def rests_on(self) -> list[str]:
        """Sentences for readers on what the guarantee and the estimates rest on."""
        return [] if self.sample is None else self.sample.sentences()

    @property
    def rows_are_synthetic(self) -> bool:
        """True if published rows are nobody's: made to answer questions as the people do."""
        return False

    @property
    def is_computed_from_others(self) -> bool:
        """True if it is computed from the other publications of its release, and so loses nothing."""
        return False

    @property
    def is_computed_from_releases(self) -> bool:
        """True if it is computed from earlier releases, and so loses nothing beyond them."""
        return False

    @property
    def labels_are(self) -> str:
        """A sentence on the labels of a column."""
        return "Recoded; not every label is published."

    @property
    def together(self) -> list[str]:
        """Sentences for readers on all that is published, or on rows that were made from it."""
        return []

    @property
    def rows_are_people(self) -> bool:
        """True if the steward vouches that every row is another person, instead of naming a column."""
        return self.person is None

    @property
    def counted(self) -> Noun:
        """The noun for what its numbers count."""
        return PEOPLE if self.unit_word is None else self.noun_of_rows

    @property
    def noun_of_rows(self) -> Noun:
        """The noun for rows of the data."""
        return ROWS if self.unit_word is None else noun_of(self.unit_word)

    @property
    def largest_epsilon(self) -> float:
        """The largest loss of any person, for everything that is published."""
        return float(self.whole_parameters["epsilon"])

    @property
    def planned_releases(self) -> int:
        """The number of releases planned together, under one epsilon and delta."""
        return 1

    @property
    def counts_everybody(self) -> bool:
        """True if nobody is left out by chance, so that there is no sample to be secret about."""
        inclusion = None if self.sample is None else self.sample.inclusion
        return inclusion is not None and inclusion.low == 1

    @property
    def rate(self) -> float | None:
        """The share of people who were sampled; None where it is not one number, or everybody was counted."""
        inclusion = None if self.sample is None else self.sample.inclusion
        return None if inclusion is None or self.counts_everybody else inclusion.rate

    def people_per_row(self, people: int, rows: int) -> float | None:
        """Return the number of people that each published row stands for; None where unknown."""
        return None if self.rate is None else 1 / self.rate

    @property
    def crowds(self) -> Mapping[str, int]:
        """The smallest crowd of every table that has one of its own, by its name; of one table, its own."""
        return {}

    @property
    def stated_confidence(self) -> float | None:
        """The confidence of stated errors; None where intervals can be computed for any."""
        return None

    @property
    def meanings(self) -> Mapping[str, tuple[str, str]]:
        """The type and the meaning of published columns that mean something else than in other kinds."""
        return {}

    @property
    def counting_note(self) -> str | None:
        """A sentence on what counts are of, where people are not counted once."""
        return None

    @property
    def publishes(self) -> str | None:
        """A sentence on what is published, where that of the kind says too much."""
        return None

    @property
    def chosen_by_the_sample(self) -> bool:
        """True if people of the same sample, who are not published, chose the labels."""
        return False

    @property
    def labels_are_chosen(self) -> bool:
        """True if people in the data chose the labels, of the same sample or not."""
        return False

    @property
    def domains(self) -> Mapping[str, Domain]:
        """The declaration of every published column of labels."""
        return {}

    @property
    def columns_with_blanks(self) -> frozenset[str]:
        """The columns of labels that some rows leave blank."""
        return frozenset()

    @property
    def declared_domains(self) -> Mapping[str, tuple[Domain, ...]]:
        """The declarations of every column that was read, for one use or for several."""
        return {name: (domain,) for name, domain in self.domains.items()}

    @property
    def tables(self) -> Mapping[str, CellTable]:
        """Every published table of people counted in cells, by the name of its file; microdata and points are one."""
        return {}

    @property
    def parameters(self) -> Parameters:
        """The numbers that someone who checks the release looks for, by name."""
        return {}

    @property
    def whole_parameters(self) -> Parameters:
        """The same, with the epsilon and the delta of what proposed the domains in them, as in the guarantee."""
        if not self.proposed:
            return self.parameters
        spent = [_proposal(read_facts(one), self.person)[Relation.ADD_REMOVE].conclusion for one in self.proposed]
        own = {name: float(self.parameters.get(name, 0.0)) for name in ("epsilon", "delta")}
        return self.parameters | {
            name: total([loss, *(getattr(one, name) for one in spent)]) for name, loss in own.items()
        }


class PeopleFacts(ReleaseFacts, frozen=True, kw_only=True):
    """Facts of releases about people: how they came into the sample, and how many rows of each count at most."""

    design: AnyDesign
    rows_per_person: Count | None = None
    one_row: bool = False
    """True if one random row counts of people who may have several."""

    @property
    def unit(self) -> Unit:
        return Unit(self.rows_per_person, self.one_row).counted("rows" if self.rows_are_counted is None else "people")

    @property
    def sample(self) -> Design:
        return self.design

    @property
    def counted(self) -> Noun:
        if not self.unit.keeps_some_rows:
            return super().counted
        # Where one row of each counts, or each of their classes once, people are counted, whatever a row is.
        return self.noun_of_rows if self.unit.several and not self.unit.counts_people else PEOPLE

    @property
    def rests_on(self) -> list[str]:
        return [*self.unit.rests_on, *super().rests_on]


def to_json(facts: ReleaseFacts) -> dict[str, Any]:
    """Facts as a certificate has them."""
    return msgspec.json.decode(msgspec.json.encode(facts), type=dict[str, Any])


def from_json(document: Mapping[str, Any], kind: type[FactsT]) -> FactsT:
    """Return the facts of a certificate in the class of their kind; refuse whatever does not fit it."""
    try:
        return msgspec.convert(document, resolve(kind))
    except (msgspec.ValidationError, CrowdblendError, ArithmeticError) as problem:
        raise contradiction("its facts are not those of a release of its kind") from problem


def read_facts(document: Mapping[str, Any]) -> ReleaseFacts:
    """Return the facts of a certificate as a value of their kind's class; refuse any other form."""
    kind = document.get("kind")
    if not isinstance(kind, str) or not (is_kind(kind) or kind in WHOLES):
        raise contradiction("its kind is none of ours")
    found: type[ReleaseFacts] = getattr(part(kind, "facts"), f"{kind_of(kind).publication}Facts")
    return from_json(document, found.class_of(document))


def planned_releases(certificate: Certificate) -> int:
    """Return the number of releases planned with that of a certificate; 1 for foreign kinds."""
    with suppress(DoesNotVerify):
        return read_facts(certificate.facts).planned_releases
    return 1


def derive(facts: ReleaseFacts) -> tuple[Derivation, ...]:
    """Derive the guarantee of these facts; refuse facts to which no theorem applies."""
    try:
        return with_proposals(facts, facts.derivations())
    except DoesNotVerify:
        raise
    except (CrowdblendError, ValueError, TypeError, ArithmeticError, LookupError) as problem:
        raise contradiction("no guarantee follows from its facts") from problem


def with_proposals(facts: ReleaseFacts, derivations: tuple[Derivation, ...]) -> tuple[Derivation, ...]:
    """Derive the sum of the losses of a release and of those that proposed its domains.

    Given what was proposed, the domains are fixed, and a sample that is drawn here depends on nothing else: so losses
    add up although one release reacts to the other. What is no differential privacy does not add up, and is left out.
    """
    if not facts.proposed:
        return derivations
    if facts.loss_follows_from_domains:
        raise contradiction("its domains were proposed from the data, and its loss would follow from them")
    sample = facts.sample
    if sample is None or not (sample.everybody or (sample.has_one_rate and sample.draws_here)):
        raise contradiction("its domains were proposed from data that are themselves a sample")
    earlier = [_proposal(read_facts(document), facts.person) for document in facts.proposed]
    found = [
        composition.differential_releases_add_up(one, *(each[one.conclusion.relation] for each in earlier))
        for one in derivations
        if isinstance(one.conclusion, Differential) and one.conclusion.people == 1
    ]
    return tuple(found)


def _proposal(facts: ReleaseFacts, person: str | None) -> dict[Relation, Derivation]:
    """Derive, by relation, the guarantee of a release that proposed domains, about everybody."""
    if facts.proposed or facts.person != person or facts.sample is None or not facts.sample.everybody:
        raise contradiction("its domains were proposed by a release that is not about everybody, by the same ids")
    found = (one for one in facts.derivations() if isinstance(one.conclusion, Differential))
    return {one.conclusion.relation: one for one in found if one.conclusion.people == 1}


def check_budget(derivation: Derivation, epsilon: float, delta: float) -> None:
    """Refuse mechanisms that guarantee less than the stated epsilon and delta."""
    found = derivation.conclusion
    if not (found.epsilon <= epsilon and found.delta <= delta):
        raise contradiction("its mechanisms guarantee less than it states")


def contradiction(what: str) -> DoesNotVerify:
    """Return the error for data that are not what their certificate says."""
    reason = f"Certificate and data contradict each other: {what}. Ask the publisher for the original folder."
    return DoesNotVerify(reason, code=CONTRADICTION, where="certificate.json")
