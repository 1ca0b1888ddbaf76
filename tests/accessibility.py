"""Rules of accessibility that a page breaks, as axe-core finds them."""

from functools import cache
from typing import Any

from axe_playwright_python.sync_playwright import Axe

from tests import cases

# Rows of one table look alike; the long suites look at all of them.
ALIKE = {"exclude": [["tbody tr:nth-child(n+6)"]]}


@cache
def _axe() -> Axe:
    return Axe()


def findings(page: Any, *, colours: bool = True) -> list[tuple[str, list[str]]]:
    """Return every broken rule with its places; whether colours are apart takes most of the time."""
    options = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": colours}}}
    found = _axe().run(page, context=None if cases.THOROUGH else ALIKE, options=options).response["violations"]
    return [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in found]
