"""The section [about]: what readers are told of a release beside its data. All of it is published as it is written."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from crowdblend.policies.key import Section, key, refusal

LONGEST = 500


@dataclass(frozen=True, kw_only=True)
class About(Section):
    """Title, publisher, contact, licence and period of a release."""

    section = "about"

    title: str | None = key("What the release is called.")
    publisher: str | None = key("Who publishes it.")
    contact: str | None = key("Where questions about it go.")
    licence: str | None = key("The licence of the data, such as CC-BY-4.0.")
    period: str | None = key("The time that the data are about.")

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
        """What is said, by key."""
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: text for name, text in given.items() if text is not None}
