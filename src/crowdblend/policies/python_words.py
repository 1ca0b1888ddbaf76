"""Refusals in the words of the caller: in Python sections are arguments, and designs and kinds are classes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from crowdblend.errors import CrowdblendError

_READING_TOML: ContextVar[bool] = ContextVar("reading TOML", default=False)
# Arguments of Policy itself have no section in Python.
_OWN = r"\[(?:privacy|data|release)\]"
_RULES: tuple[tuple[str, str], ...] = (
    (r"section \[(\w+)\]", r"\1"),
    (rf" (?:in|to|of|from) {_OWN}", ""),
    (rf"{_OWN} (has|needs|accepts|takes|is)\b", r"Policy \1"),
    (rf"{_OWN} (?=[a-z])", ""),
    (_OWN, "Policy"),
    (r"\[\[publish\.(\w+)\]\]", r"\1"),
    (r"\[\[publish\]\]", "publish"),
    (r"\[sampling\] has sampling=", "Policy has sampling="),
    (r"\[(sampling|columns|recoding|about)\]", r"\1"),
    (r"\b([a-z_]+) = true\b", r"\1=True"),
    (r"\b([a-z_]+) = false\b", r"\1=False"),
    (r"\b([a-z_]+) = (?=[\"\[{])", r"\1="),
    (r"\b(Write|Add|write|add|or) ([a-z_]+) = ", r"\1 \2="),
)


def in_python(text: str) -> str:
    """Return a sentence about a policy file in the words of Python.

    >>> in_python('Write design = "poisson" in [sampling], or kind = "outlier-table"; rate in [sampling] is 2.')
    'Write sampling=Poisson(…), or OutlierTable; rate in sampling is 2.'
    >>> in_python('The shares in [[publish]] add up to 1.4. Add epsilon to [privacy], or write split = "people".')
    'The shares in publish add up to 1.4. Add epsilon, or write split="people".'
    """
    text = re.sub(
        r'design = "([a-z]+)"(?: in \[sampling\])?', lambda found: f"sampling={found[1].capitalize()}(…)", text
    )
    text = re.sub(r'kind = "([a-z-]+)"', lambda found: found[1].title().replace("-", ""), text)
    for notation, words in _RULES:
        text = re.sub(notation, words, text)
    return text


@contextmanager
def speaking_python(speaks: bool = True) -> Iterator[None]:
    """Say what is refused in the words of Python, unless a policy file is read."""
    try:
        yield
    except CrowdblendError as error:
        if speaks and not _READING_TOML.get():
            error.message, error.remedy = in_python(error.message), in_python(error.remedy)
        raise


@contextmanager
def reading_toml() -> Iterator[None]:
    """Keep the words of policy files while one is read."""
    before = _READING_TOML.set(True)
    try:
        yield
    finally:
        _READING_TOML.reset(before)
