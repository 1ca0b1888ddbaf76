"""Policies as text, and a small sound one that tests bend."""

from functools import partial


def policy_text(**sections: str | tuple[str, ...]) -> str:
    """The text of a policy with these sections, in this order; tables of `publish` stand in its text."""
    texts = {name: text if isinstance(text, str) else "\n".join(text) for name, text in sections.items()}
    return "".join(f"{'[[publish]]' if name == 'publish' else f'[{name}]'}\n{text}\n" for name, text in texts.items())


SOUND = policy_text(
    data='source = "people.csv"\nperson = "id"',
    sampling='design = "poisson"\nrate = 0.1',
    columns='sex = { values = ["Female", "Male"] }\nage = { from = 0, to = 100, width = 10 }',
    privacy="epsilon = 1.0\ndelta = 1e-6",
    publish='kind = "table"\nk = 20',
)


def swapped(text: str, *swaps: tuple[str, str], add: str = "") -> str:
    """A policy with texts swapped; a swap that changes nothing is a mistake in the test."""
    for old, new in swaps:
        assert old in text, old
        text = text.replace(old, new)
    return text + add


bent = partial(swapped, SOUND)


def assert_refused(error, code: str) -> None:
    """Assert that an error says what is wrong, where, and what to do, in one line."""
    assert error.code == f"policy.{code}"
    assert "\n" not in str(error)
    assert len(str(error)) < 400
    assert error.message.endswith(".")
    assert error.remedy.endswith((".", "?"))
    assert error.where is not None or code == "toml"
