"""Refusals speak the language of the caller: arguments and classes in Python, sections and keys in policy files."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import crowdblend as cb
from crowdblend.policies.load import parse_policy
from tests.cases import for_each
from tests.policies.policies import policy_text

NOTATION = re.compile(
    r"\[\[?(data|about|columns|sampling|privacy|recoding|release|publish)[\].]|= (true|false)\b|design = (?!…)"
)


def policy(**changes: Any) -> cb.Policy:
    given: dict[str, Any] = {"person": "id", "sampling": cb.Poisson(0.5), "epsilon": 1.0, "delta": 1e-6}
    return cb.Policy(**{**given, "columns": {"g": ["a", "b"]}, "publish": cb.Table("g"), **changes})


HALVES = [cb.Table("g", name="x", share=0.7), cb.Table("g", name="y", share=0.7)]


@for_each(
    ("make", "said"),
    [
        (lambda: cb.Poisson(1.2), "sampling.rate takes a number between 0 and 1 (exclusive), got 1.2."),
        (lambda: cb.Poisson(rat=0.2), "Poisson has no argument 'rat'. Did you mean rate?"),  # type: ignore[call-arg]
        (lambda: cb.Choosing(epsilon=0.1, using="split", shar=0.2), "Did you mean share?"),  # type: ignore[call-arg]
        (lambda: cb.Table("g", k=0), "k takes a whole number"),
        (lambda: policy(epsilon=-1), "epsilon takes a number"),
        (lambda: policy(publish=HALVES).plan(), "The shares in publish add up to 1.4"),
        (lambda: policy().replace(sampling=cb.Everybody(), publish=cb.Microdata("g")), "Write sampling=Poisson(…), or"),
        (
            lambda: cb.release(pa.table({"id": [1], "g": ["a"]}), policy(publish=HALVES), ledger=None),
            "The shares in publish add up to 1.4",
        ),
    ],
)
def test_python_is_answered_in_python(make: Callable[[], object], said: str) -> None:
    with pytest.raises(cb.CrowdblendError) as refused:
        make()
    assert said in str(refused.value)
    assert not NOTATION.search(str(refused.value))


def test_a_policy_file_is_answered_in_its_own_words() -> None:
    text = policy_text(
        data='person = "id"',
        sampling='design = "poisson"\nrate = 0.5',
        columns='g = { values = ["a", "b"] }',
        privacy="epsilon = 1.0\ndelta = 1e-6",
        publish='kind = "table"\ncolumns = ["g", "h"]',
    )
    with pytest.raises(cb.InvalidInput, match=r"which \[columns\] does not declare"):
        parse_policy(text)


def test_commands_and_options_are_calls_and_arguments_in_python(tmp_path: Path) -> None:
    with pytest.raises(cb.InvalidInput) as refused:
        cb.release(pa.table({"id": [*range(60)], "g": ["c"] * 60}), policy(), ledger=None)  # one of them is drawn
    assert "check(data, policy)" in refused.value.remedy
    with pytest.raises(cb.InvalidInput) as exists:
        cb.release(pa.table({"id": [1], "g": ["a"]}), policy(), ledger=None, out=tmp_path)
    assert exists.value.where == "out"
    for error in (refused.value, exists.value):
        assert "crowdblend" not in str(error)
    ledger = cb.Ledger.create(tmp_path / "ledger.db")
    ledger.limit("town", epsilon=1.0, delta=1e-6, by="ann")
    with pytest.raises(cb.InvalidInput) as changed:
        ledger.limit("town", epsilon=2.0, delta=1e-6, by="ann")
    assert changed.value.remedy == "Say why it changes (why)."
