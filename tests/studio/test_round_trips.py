"""Whatever policy is opened, and whatever page of it is saved unchanged: it stays the policy that it was, or it is
refused when it is opened, with the key that the studio cannot say.

5,000 generated policies through the choices, 2,000 through the forms as a browser sends them; a slice of them daily.
"""

import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest

import crowdblend as cb
from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.policies.differences import first_difference
from crowdblend.policies.load import parse_policy
from crowdblend.studio.model import readiness
from crowdblend.studio.model.choices import choices_of, policy_of
from crowdblend.studio.model.unsaid import refuse_unsaid
from crowdblend.studio.pages import release
from tests.cases import for_each
from tests.golden.releases import POLICIES as POLICIES_OF_TESTS
from tests.refusals import where_of
from tests.studio.browser_forms import forms_of
from tests.studio.conftest import FROM_PAGE, Visitor
from tests.studio.model.generated_policies import Generator, declared_keys, given_keys, make_files

POLICIES, FORMS, DAILY, EACH = 5_000, 2_000, 16, 500
SEEDS = [range(DAILY), *(pytest.param(range(at, at + EACH), marks=pytest.mark.slow) for at in range(0, POLICIES, EACH))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the policies name."""
    made = tmp_path_factory.mktemp("policies")
    make_files(made)
    return made


@pytest.mark.parametrize("numbers", SEEDS, ids=str)
def test_choices_of_a_policy_make_it_again_or_it_is_refused(numbers: range, folder: Path) -> None:
    generator, refused = Generator(numbers.start, folder), Counter[str]()
    for number in numbers:
        policy, parts = generator.policy(number)
        choices = choices_of(policy)
        try:
            made = policy_of(choices, folder)
        except CrowdblendError as error:
            where = error.where
        else:
            where = first_difference(policy, made)
            assert (where is None) == (made == policy), parts
        if where is None:
            refuse_unsaid(policy, choices, folder)
            continue
        refused[where] += 1
        with pytest.raises(InvalidInput) as caught:
            refuse_unsaid(policy, choices, folder)
        assert (caught.value.code, caught.value.where) == ("studio.unsaid", where), parts
    assert refused.total() <= max(3, len(numbers) // 10), refused


@pytest.mark.slow
def test_every_declared_key_is_generated(folder: Path) -> None:
    generator, given = Generator(0, folder), set[str]()
    for number in range(2 * len(declared_keys())):
        given |= given_keys(generator.policy(number)[1])
    assert declared_keys().keys() - given == set()


class Plans:
    """No plans: what a page plans is not what it says."""

    @staticmethod
    def refuse(*_: object) -> None:
        """Refuse to plan."""
        raise InvalidInput("Not planned.", remedy="Go on.", where="plan", code="plan.none")


@pytest.fixture
def unplanned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without a plan, which takes longer than all the rest."""
    monkeypatch.setattr(release, "plan_policy", Plans.refuse)
    monkeypatch.setattr(readiness, "missing_in_release", lambda *_: "Not planned.")


FORM_SEEDS = [
    range(DAILY // 2),
    *(pytest.param(range(at, at + EACH // 2), marks=pytest.mark.slow) for at in range(0, FORMS, EACH // 2)),
]


@pytest.mark.usefixtures("unplanned")
@pytest.mark.parametrize("numbers", FORM_SEEDS, ids=str)
def test_pages_that_are_saved_unchanged_keep_the_policy(
    numbers: range, root: Path, visit: Callable[..., Visitor]
) -> None:
    make_files(root)
    visitor, generator, outcomes = visit(), Generator(numbers.start + POLICIES, root), Counter[str]()
    for number in numbers:
        policy, parts = generator.policy(number)
        policy.save(root / "mine.toml", force=True)
        outcomes[outcome(visitor, root, policy, str(parts))] += 1
    assert outcomes["kept"] >= len(numbers) // 2, outcomes


def outcome(visitor: Visitor, root: Path, policy: cb.Policy, shown: str) -> str:
    """What becomes of a policy that is opened: it is kept by every page, or refused."""
    answer = visitor.send("/drafts", {"policy": "mine.toml"})
    if answer.status_code != 303:
        assert answer.status_code in (404, 409), shown
        return "refused"
    number = answer.headers["location"].split("/")[2]
    for step in ("data", "columns", "release"):
        for form in forms_of(visitor.get(f"/drafts/{number}/{step}").text):
            if form.action.endswith(f"/drafts/{number}/{step}"):
                headers = {**FROM_PAGE, "content-type": "application/x-www-form-urlencoded", "hx-request": "true"}
                path = f"/drafts/{number}/{step}"
                saved = visitor.request("POST", path, content=urlencode(form.fields), headers=headers)
                assert saved.status_code in (200, 204, 303), (saved.text, shown)
    made = visitor.studio.policy(visitor.studio.drafts.get(number).choices)
    assert first_difference(policy, made, os.path.realpath) is None, shown
    visitor.send(f"/drafts/{number}/delete")
    return "kept"


KEPT = {
    "thousands": '[data]\nsource = "people.csv"\nperson = "id"\npopulation = " town "\nthousands = " "\n',
    "tabs": '[data]\nsource = "people.csv"\nperson = "id"\npopulation = "town"\nformat = "csv"\ndelimiter = "\\t"\n',
}
SEX, AGE = 'sex = { values = ["F", "M"] }', "age = { from = 0, to = 90, width = 10 }"
SAID = {
    "labels": (
        'sex = { values = ["a\\nb", " c", "d\\u2028e", "\\"f\\""], missing = "g " }',
        "k = 20",
        '"poisson"\nrate = 0.5',
        "delta = 1e-3\n",
    ),
    "a register with a threshold": (SEX, 'below_k = "threshold"', '"everybody"', "epsilon = 1.0\ndelta = 1e-6\n"),
    "an order of columns": (f"{AGE}\n{SEX}", "", '"everybody"', "epsilon = 1.0\n"),
    "strata": (
        'sex = { values = ["F: 1", "M; 2"] }',
        "",
        '"strata"\ncolumn = "sex"\nrates = { "F: 1" = 0.1, "M; 2" = 0.2 }',
        "epsilon = 1.0\ndelta = 1e-6\n",
    ),
}


@for_each("data", KEPT)
@for_each("case", SAID)
def test_a_saved_policy_is_the_one_that_was_opened(
    data: str, case: str, visit: Callable[..., Visitor], root: Path
) -> None:
    columns, publish, design, loss = SAID[case]
    header = "id,sex,age\n1,F,3\n"
    (root / "people.csv").write_text(header.replace(",", "\t") if data == "tabs" else header, encoding="utf-8")
    text = f"{KEPT[data]}[sampling]\ndesign = {design}\n[privacy]\n{loss}[columns]\n{columns}\n"
    text += f'[[publish]]\nkind = "table"\n{publish}\n'
    (root / "mine.toml").write_text(text, encoding="utf-8")
    visitor = visit()
    number = visitor.send("/drafts", {"policy": "mine.toml"}).headers["location"].split("/")[2]
    for step in ("data", "columns", "release"):
        for form in forms_of(visitor.get(f"/drafts/{number}/{step}").text):
            if form.action.endswith(f"/drafts/{number}/{step}"):
                headers = {**FROM_PAGE, "content-type": "application/x-www-form-urlencoded"}
                visitor.request("POST", f"/drafts/{number}/{step}", content=urlencode(form.fields), headers=headers)
    name = f"saved-{len(list(root.iterdir()))}.toml"
    saved = visitor.send(f"/drafts/{number}/publish", {"save": "1", "policy": name, "out": f"out-{name}"})
    assert saved.status_code == 303, saved.text.partition('role="alert"')[2]
    assert cb.load_policy(root / name) == cb.load_policy(root / "mine.toml")


def test_a_policy_that_the_studio_cannot_say_is_refused_with_the_key(visitor: Visitor, root: Path) -> None:
    text = '[data]\nsource = "people.csv"\nduplicates = "one"\n[privacy]\nepsilon = 8.0\n[[publish]]\nkind = "graph"\n'
    text += 'people = 100\ndegree_bound = 9\n[[publish.statistics]]\nname = "average-degree"\nsamples = 50\n'
    (root / "mine.toml").write_text(text, encoding="utf-8")
    assert parse_policy(text).terms.duplicates == "one"
    refused = visitor.send("/drafts", {"policy": "mine.toml"})
    assert refused.status_code == 409
    text = " ".join(re.sub("<[^>]*>", " ", refused.text).split())
    assert "The studio has no field for" in text
    assert not visitor.studio.drafts.all()


def test_a_refusal_of_what_is_said_again_names_its_key(tmp_path: Path) -> None:
    policy = parse_policy(POLICIES_OF_TESTS["table"], tmp_path)
    choices = choices_of(policy)
    for section, key in (("privacy", "epsilon"), ("sampling", "rate")):
        with pytest.raises(InvalidInput) as caught:
            refuse_unsaid(policy, choices.with_texts(section, {key: "0.25"}), tmp_path)
        assert (caught.value.code, where_of(caught.value)) == ("studio.unsaid", f"[{section}] {key}")
