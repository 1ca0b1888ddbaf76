"""Presets of a starter policy: what offices publish most often, with columns that are found by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from crowdblend.errors import InvalidInput
from crowdblend.frozen import dataclass
from crowdblend.policies.refusals import did_you_mean

_CALLED = {
    "area": re.compile(
        r"(?i).*(area|region|district|county|state|canton|province|municip|neighbou?rhood|ward|gemeinde|kreis|bezirk"
        r"|commune|zip|plz|postcode).*"
    ),
    "sex": re.compile(r"(?i).*(sex|gender|geschlecht).*"),
    "age": re.compile(r"(?i)(.*[_ .-])?(age|alter|ages?[_ .-]?(group|band|class))([_ .-].*)?"),
}


@dataclass(frozen=True)
class Preset:
    """A kind, a design where it follows, the columns to publish, and what [sampling] and [privacy] say besides."""

    words: str
    kind: str
    design: str | None = None
    columns: tuple[str, ...] = ()
    said: Mapping[str, str] = field(default_factory=dict)

    def choose_columns(self, names: Sequence[str]) -> list[str]:
        """Return the columns of the data that are called as the preset's are, one for each; all where none is named.

        >>> PRESETS["yearly-counts"].choose_columns(["person_id", "gender", "age", "income", "district"])
        ['district', 'gender', 'age']
        """
        if not self.columns:
            return list(names)
        found = (next((name for name in names if _CALLED[one].fullmatch(name.strip())), None) for one in self.columns)
        return list(dict.fromkeys(name for name in found if name is not None))


PRESETS = {
    "yearly-counts": Preset(
        "yearly counts by area, sex and age, ten years under one budget",
        "table",
        columns=("area", "sex", "age"),
        said={"[privacy] releases": "10"},
    ),
    "microdata": Preset("microdata for researchers", "microdata"),
    "survey-strata": Preset("a survey with strata", "table", "strata", said={"[sampling] thin": "0.8"}),
    "register-by-district": Preset("a register by district", "table", "everybody", columns=("area", "sex")),
}


def preset_of(name: str | None) -> Preset | None:
    """Return the preset of a name; None without one."""
    if name is not None and name not in PRESETS:
        message = f"There is no preset {name[:60]!r}."
        raise InvalidInput(message, remedy=did_you_mean(name, PRESETS), where="--preset", code="init.preset")
    return None if name is None else PRESETS[name]


def area_of(names: Sequence[str]) -> str | None:
    """Return the column of areas, by its name."""
    return next((name for name in names if _CALLED["area"].fullmatch(name.strip())), None)
