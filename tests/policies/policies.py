"""A small sound policy that tests bend."""

SOUND = """
[data]
source = "people.csv"
person = "id"

[sampling]
rate = 0.1

[columns]
sex = { values = ["Female", "Male"] }
age = { from = 0, to = 100, width = 10 }

[release]
kind = "table"
k = 20
epsilon = 1.0
delta = 1e-6
"""


def bent(*swaps: tuple[str, str], add: str = "") -> str:
    """The sound policy with texts swapped; a swap that changes nothing is a mistake in the test."""
    text = SOUND
    for old, new in swaps:
        assert old in text, old
        text = text.replace(old, new)
    return text + add
