"""What the studio says has the words of its pages: no section, no key, no brace of a policy file."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from crowdblend.errors import CrowdblendError
from crowdblend.policies.sampling import DESIGNS
from crowdblend.sources.engines.refusals import to_see
from crowdblend.studio.forms import fields_of
from crowdblend.studio.model.choices import Choices, policy_of
from crowdblend.studio.model.wording import in_words, place_of, settings_in_words
from tests import cases
from tests.studio.model.kinds_of_choices import CASES

TEMPLATES = Path(__file__).parents[3] / "src" / "crowdblend" / "studio" / "templates"
WRONG = ("", "x", "-1")
NOTATION = re.compile(
    r"\[\[?(data|about|columns|sampling|privacy|recoding|release|publish)|\w\w = |[{}]|TOML|\w_\w|in quotes|--"
)


def mistakes(choices: Choices, known: set[str], values: tuple[str, ...]) -> Iterator[Choices]:
    """Every field with something that does not belong there; of sections that are the same everywhere, once."""
    sections = {section: keys for section, keys in choices.declared_by_section.items() if section not in known}
    known |= {"about", "data", "release"}
    for wrong in values:
        for section, keys in sections.items():
            yield from (choices.with_texts(section, {key: wrong}) for key in keys)
        for place, one in enumerate(choices.publish):
            yield from (choices.with_publication(place, {key: wrong}) for key in choices.declared_keys(place))
            for section, keys in choices.declared_lists(place).items():
                first, *others = one.lists.get(section) or [{}]
                for key in keys:
                    yield choices.with_publication(place, {}, {section: [{**first, key: wrong}, *others]})
        for name in choices.used_columns:
            for way, keys in choices.ways(name).items():
                texts = choices.columns[name] if choices.columns[name]["way"] == way else {"way": way}
                yield from (choices.with_column(name, {**texts, key: wrong}) for key in keys)


@cache
def refusals() -> dict[tuple[str, str, str, str | None], CrowdblendError]:
    """What is refused for them, once each."""
    found, known = {}, set[str]()
    for number, (choices, _) in enumerate(CASES.values()):
        # What is no number is refused in the same words everywhere.
        for mistake in mistakes(choices, known, WRONG if cases.THOROUGH or number == 0 else WRONG[-1:]):
            try:
                policy_of(mistake, Path("nowhere"))
            except CrowdblendError as refused:
                found[refused.code, *refused.refusal] = refused
    return found


def notation(texts: set[str]) -> list[str]:
    """Those that have some, but for the names of the steward's own, which stand in quotes."""
    return sorted(text for text in texts if NOTATION.search(re.sub(r"'[^']*'", "''", text)))


def test_refusals_are_said_in_the_words_of_the_pages() -> None:
    found = refusals()
    assert len(found) > 150
    said = {in_words(text) for refused in found.values() for text in refused.refusal[:2]}
    assert notation(said) == []
    assert in_words("Write `publish.k = 20` or `privacy.epsilon = 0.5`.") == "Write k = 20 or ε = 0.5."


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Write `to = 120`, or use breaks.", "Write “To: 120”, or use breaks."),
        ('Add labels by column, such as `{ sex = "F" }`.', "Add labels by column, such as sex: F."),
        ("Correct `sampling.low` and `sampling.high`.", "Correct “Low” and “High”."),
        ('Set `data.duplicates = "one"` to keep one.', "Set “Duplicates: one” to keep one."),
        ("`sampling.rates` has no rate for 'north'.", "“Rates” has no rate for 'north'."),
        ("Declare the column in `columns` with breaks.", "Declare the column in the step Columns with breaks."),
        ("column 'max_rate' declares no domain.", "Column 'max_rate' declares no domain."),
        ("k = 1 hides nobody.", "k = 1 hides nobody."),
        (
            'Use `sampling.design = "poisson" | "strata"`.',
            f"Use “{DESIGNS['poisson'].words}” or “{DESIGNS['strata'].words}”.",
        ),
        (to_see("them"), "To see them: “Check the rows” in the step Columns."),
        (
            "Choose another folder, or pass `--force` to replace it.",
            "Choose another folder, or pass “Force” to replace it.",
        ),
    ],
)
def test_no_sentence_is_garbled(said: str, words: str) -> None:
    assert in_words(said) == words


def test_lines_of_a_plan_keep_the_names_of_columns_and_labels() -> None:
    said = 'weeks_worked, max_rate and delta: exact from k = 35, with `publish.below_k = "noise"`'
    assert settings_in_words(said) == said.replace('`publish.below_k = "noise"`', "“Below k: noise”")


def test_most_refusals_lead_to_a_field() -> None:
    found = refusals().values()
    assert sum(place_of(refused.refusal.where) is not None for refused in found) > 0.9 * len(found)


def test_fields_are_explained_in_the_words_of_the_pages() -> None:
    said = {in_words(design.meaning) for design in DESIGNS.values()}
    for choices, _ in CASES.values():
        for keys in (
            *choices.declared_by_section.values(),
            choices.declared_keys(0),
            *choices.declared_lists(0).values(),
        ):
            said |= {field.meaning for field in fields_of(keys, "", {}, ("source",))}
        for name in choices.used_columns:
            said |= {field.meaning for keys in choices.ways(name).values() for field in fields_of(keys, "", {})}
    assert notation(said) == []


def test_pages_speak_of_no_notation() -> None:
    for template in TEMPLATES.rglob("*.html"):
        text = re.sub(r"{%.*?%}|{{.*?}}|{#.*?#}|<[^>]*>", " ", template.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"TOML|\[\w+\]|--\w", text), template.name
