"""A small sound policy that tests bend."""

SOUND = """
[data]
source = "people.csv"
person = "id"

[sampling]
design = "poisson"
rate = 0.1

[columns]
sex = { values = ["Female", "Male"] }
age = { from = 0, to = 100, width = 10 }

[privacy]
epsilon = 1.0
delta = 1e-6

[[publish]]
kind = "table"
k = 20
"""


def bent(*swaps: tuple[str, str], add: str = "") -> str:
    """The sound policy with texts swapped; a swap that changes nothing is a mistake in the test."""
    text = SOUND
    for old, new in swaps:
        assert old in text, old
        text = text.replace(old, new)
    return text + add


def assert_refused(error, code: str) -> None:
    """Assert that an error says what is wrong, where, and what to do, in one line."""
    assert error.code == f"policy.{code}"
    assert "\n" not in str(error)
    assert len(str(error)) < 400
    assert error.message.endswith(".")
    assert error.remedy.endswith((".", "?"))
    assert error.where is not None or code == "toml"
