"""The section [about]: what readers are told of a release beside its data. All of it is published as it is written."""

from __future__ import annotations

from typing import Annotated

from msgspec.structs import asdict

from crowdblend.policies.key import Section, key
from crowdblend.policies.refusals import refusal

LONGEST = 500


class About(Section, frozen=True, kw_only=True):
    """Title, publisher, contact, licence and period of a release."""

    section = "[about]"

    title: Annotated[str | None, key("What the release is called.")] = None
    publisher: Annotated[str | None, key("Who publishes it.")] = None
    contact: Annotated[str | None, key("Where questions about it go.")] = None
    licence: Annotated[str | None, key("The licence of the data, such as CC-BY-4.0.")] = None
    period: Annotated[str | None, key("The time that the data are about.")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, text in self.texts().items():
            if not text.strip() or not text.isprintable() or len(text) > LONGEST:
                raise refusal(
                    "about",
                    f"{name} in [about] is blank, has a line end or another sign that cannot be seen, or is too long.",
                    f"Write one line of at most {LONGEST} characters.",
                    f"[about] {name}",
                )

    def texts(self) -> dict[str, str]:
        """Return what is said, by key."""
        return {name: text for name, text in asdict(self).items() if text is not None}
