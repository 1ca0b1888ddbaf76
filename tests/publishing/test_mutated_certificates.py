"""Whatever is changed in a derivation, with every conclusion derived anew, a certificate no longer follows from facts.

Every number of every step is changed, in certificates of all kinds and designs. `make test` tries 250 of them at even
steps, `make test-slow` 5,000.
"""

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from crowdblend.errors import CrowdblendError, DoesNotVerify
from crowdblend.kinds import AnyPlan, plan
from crowdblend.kinds.shared.facts import derive, read_facts, to_json
from crowdblend.policies.load import parse_policy
from crowdblend.reading.verification.consistency import check_certificate
from crowdblend.trusted.calculus import Certificate, Derivation
from crowdblend.trusted.calculus.certificate import by_strength
from tests.golden.releases import DISTRICTS, PEOPLE, POLICIES, PROGRAMMES

_RATES = ", ".join(f'"{name}" = {0.05 * (place % 3 + 1)}' for place, name in enumerate(DISTRICTS))
_STRATA = f'[sampling]\ndesign = "strata"\ncolumn = "district"\nrates = {{ {_RATES} }}\n'
_COLUMNS = f'[columns]\nsex = {{ values = ["female", "male"] }}\ndistrict = {{ values = {list(DISTRICTS)} }}\n'
_WEIGHTS = '[sampling]\ndesign = "weights"\ncolumn = "w"\n[columns]\nsex = { values = ["female", "male"] }\n'
_WEIGHTS += "w = { breaks = [2, 4, 8, 16] }\n"
_SURVEY = f'[sampling]\ndesign = "survey"\npeople = 2000\nof = {PEOPLE}\n'
_DATA = '[data]\nsource = "town.parquet"\nperson = "person_id"\n'
_TABLE = '[privacy]\nepsilon = 1.0\ndelta = 1e-6\n[[publish]]\nkind = "table"\n'
_NUMBERS = (
    '[privacy]\nepsilon = 1.0\n[[publish]]\nkind = "statistics"\n'
    '[[publish.statistics]]\nname = "women"\nfraction = { sex = "female" }\n'
)
DESIGNED = {
    "strata-table": _DATA + _STRATA + _COLUMNS + _TABLE,
    "strata-noise": _DATA + _STRATA + _COLUMNS + _TABLE + 'below_k = "noise"\n',
    "strata-microdata": _DATA + _STRATA + _COLUMNS + _TABLE.replace("table", "microdata"),
    "strata-statistics": _DATA + f"people = {PEOPLE}\n" + _STRATA + _COLUMNS + _NUMBERS,
    "hidden-strata": _DATA
    + _STRATA
    + '[columns]\nsex = { values = ["female", "male"] }\n'
    + _TABLE.replace("1e-6", "1e-4"),
    "weights-table": _DATA + _WEIGHTS + _TABLE,
    "weights-statistics": _DATA + f"people = {PEOPLE}\n" + _WEIGHTS + _NUMBERS,
    "survey-table": _DATA + _SURVEY.replace("people = 2000", "people = 2000\nthin = 0.8") + _COLUMNS + _TABLE,
    "survey-statistics": _DATA
    + _SURVEY.replace("people = 2000", "people = 2000\nthin = 1")
    + '[columns]\nsex = { values = ["female", "male"] }\n'
    + _NUMBERS,
    "hidden-weights": _DATA
    + '[sampling]\ndesign = "weights"\ncolumn = "w"\nlow = 0.05\nhigh = 0.1\n'
    + '[columns]\nsex = { values = ["female", "male"] }\n'
    + _TABLE.replace("1e-6", "1e-4"),
    "series": _DATA
    + '[sampling]\ndesign = "poisson"\nrate = 0.1\n'
    + _COLUMNS
    + _TABLE.replace("[[publish]]", "releases = 10\n[[publish]]"),
}
EVERY = POLICIES | DESIGNED | PROGRAMMES
# Of which rules, and which of their numbers, becomes what.
Change = tuple[str | None, str, float]


@cache
def plan_of(name: str) -> AnyPlan:
    """The plan of a policy."""
    return plan(parse_policy(EVERY[name], Path(__file__).parent))


@cache
def honest(name: str) -> Certificate:
    """The planned certificate of a policy."""
    return plan_of(name).certificate()


def changed(step: Derivation, changes: tuple[Change, ...]) -> Derivation:
    """The same derivation with other numbers wherever rules have them: every conclusion follows anew."""
    premises = [changed(premise, changes) for premise in step.premises]
    own = {
        name: value
        for rule, name, value in changes
        if name in step.parameters and rule in (None, step.rule.id) and type(value) is type(step.parameters[name])
    }
    return step.rule(*premises, **{**step.parameters, **own})


def others(value: float) -> list[float]:
    """Numbers that a forger would like better, and some that nobody would."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [1, 2, value - 1, value + 1]
    return [value * factor for factor in (0.5, 0.1, 2.0)] + [math.nextafter(value, 0.0)]


def mutations(name: str) -> list[tuple[Change, ...]]:
    """Every number of every rule changed, everywhere that rule is used; every name, everywhere; and some pairs."""
    parameters = [(step.rule.id, *own) for step in honest(name).steps() for own in step.parameters.items()]
    one = dict.fromkeys((rule, name, other) for rule, name, value in parameters for other in others(value))
    everywhere = dict.fromkeys((None, name, other) for _, name, value in parameters for other in others(value))
    single: list[Change] = [*one, *everywhere]
    apart = [len(single) * share // 7 for share in range(1, 6)]
    pairs = [pair for far in apart for pair in zip(single, single[far:] + single[:far], strict=True)]
    return [*((change,) for change in single), *pairs]


def forgery(name: str, changes: tuple[Change, ...]) -> Certificate | None:
    """The certificate with these changes; None where no theorem applies to it, or it says the same."""
    made = honest(name)
    try:
        derivations = tuple(changed(step, changes) for step in made.derivations)
        return None if derivations == made.derivations else Certificate(derivations, made.stated, made.facts)
    except (CrowdblendError, ArithmeticError):
        return None


@cache
def given(name: str) -> tuple[Derivation, ...]:
    """The derivations that the facts of a certificate give."""
    return by_strength(derive(read_facts(honest(name).facts)))


def is_accepted(certificate: Certificate) -> bool:
    """Whether the certificate follows from its facts."""
    try:
        check_certificate(certificate.to_json())
    except DoesNotVerify:
        return False
    return True


@pytest.mark.parametrize("name", EVERY)
def test_an_honest_certificate_follows_from_its_facts(name: str) -> None:
    assert is_accepted(honest(name))


@pytest.mark.parametrize(
    "tried", [pytest.param(250, id="some"), pytest.param(5_000, id="many", marks=pytest.mark.slow)]
)
def test_a_mutated_certificate_does_not(tried: int) -> None:
    every = [(name, changes) for name in EVERY for changes in mutations(name)]
    forged = 0
    # At even steps through all of them, until enough are certificates at all.
    for start in range(len(every)):
        for name, changes in every[start :: max(1, len(every) // tried)]:
            found = forgery(name, changes)
            if found is not None:
                forged += 1
                # What the facts give is the same for all forgeries of one certificate; some go the whole way.
                assert found.derivations != given(name), f"{name}: {changes}"
                assert forged % 10 or not is_accepted(found), f"{name}: {changes}"
        if forged >= tried:
            return
    pytest.fail(f"only {forged} forgeries")


TOTAL = {"mechanism": "noisy-total", "name": "people", "noise_epsilon": 50.0, "rows_per_person": 1}
NOISY = {"mechanism": "noisy-below-k", "k": 10, "noise_epsilon": 0.1, "show_from": None, "flag": False}
UNPAID: list[tuple[str, Callable[[Any], object]]] = [
    ("table-visits", lambda facts: facts["totals"][0].update(rows_per_person=1)),
    ("table-visits", lambda facts: facts["totals"].pop()),
    ("table", lambda facts: facts.update(totals=[TOTAL])),
    ("table-register", lambda facts: facts.update(totals=[TOTAL])),
    ("table-register", lambda facts: facts.update(releases=12)),
    ("table-register", lambda facts: facts.update(recoding=to_json(plan_of("table-split").facts())["recoding"])),
    ("table", lambda facts: facts.update(releases=5)),
    ("strata-table", lambda facts: facts["design"].update(column="sex")),
    ("strata-statistics", lambda facts: facts["design"]["strata"][DISTRICTS[0]].update(high=0.9)),
    ("strata-statistics", lambda facts: facts["design"]["strata"][DISTRICTS[0]].update(rate=1 / 3)),
    ("strata-statistics", lambda facts: facts["design"]["strata"][DISTRICTS[0]].update(rate=0.3, low=0.3, high=0.3)),
    ("strata-statistics", lambda facts: facts.pop("design")),
    ("strata-statistics", lambda facts: facts["design"].update(strata=None)),
    ("statistics", lambda facts: facts["statistics"]["women"].update(samples=1)),
    ("statistics", lambda facts: facts["design"].update(people=1)),
    ("strata-table", lambda facts: facts["strata"].update({DISTRICTS[0]: NOISY})),
    ("graph", lambda facts: facts["statistics"][0].update(samples=10**12)),
    ("graph", lambda facts: facts["statistics"][0].update(labels=["a", "b"])),
    ("synopsis", lambda facts: facts["queries"].update(ranges="sex")),
    ("synopsis", lambda facts: facts.update(queries={"ranges": "sex"})),
    ("table-population", lambda facts: facts["design"].update(design="coins")),
    ("statistics", lambda facts: facts["statistics"]["women"].update(noise_epsilon=1e-300)),
    ("weights-statistics", lambda facts: facts["design"].update(breaks=[20, 40, 80, 160])),
    ("weights-table", lambda facts: facts["design"].update(breaks=[-2, 4, 8, 16])),
]


@pytest.mark.parametrize(("name", "edit"), UNPAID)
def test_nothing_is_published_that_no_derivation_pays_for(name: str, edit: Callable[[Any], object]) -> None:
    facts = to_json(plan_of(name).facts())
    derive(read_facts(facts))
    edit(facts)
    with pytest.raises(DoesNotVerify):
        derive(read_facts(facts))
