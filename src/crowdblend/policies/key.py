"""A key of a policy, declared once: on the field of the dataclass that holds it.

    k: int | None = key("The crowd size, the person included.", section="release", ranged=True)

The reader, the JSON schema, docs/policy.md, the starter and the checks of values made in Python all use this one
declaration. The type of the value comes from the annotation of the field.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from crowdblend.errors import InvalidInput
from crowdblend.policies.values import KIND_WORDS, Kind, convert, fits, problem_of, shown

_METADATA = "key"
Result = TypeVar("Result")


@dataclass(frozen=True)
class Key:
    """What a key is called, what it may hold, and what it means."""

    name: str
    section: str
    kind: Kind
    meaning: str
    choices: tuple[str, ...] = ()
    required: bool = False
    ranged: bool = False  # the range is that of the parameter of the same name
    between: tuple[int, int] | None = None
    default: Any = None

    @property
    def where(self) -> str:
        """The key as errors name it."""
        return f"{self.section} {self.name}".strip()

    def read(self, value: Any) -> Any:
        """The value in its own type, or a refusal that names the key."""
        if not fits(self.kind, value):
            raise self._refusal("type", f"takes {KIND_WORDS[self.kind]}, got {shown(value)}.")
        value = convert(self.kind, value)
        if self.choices and value not in self.choices:
            choices = " or ".join(f'"{choice}"' for choice in self.choices)
            raise self._refusal("choice", f"takes {choices}, got {shown(value)}.")
        problem = problem_of(self.kind, value)
        if problem is not None:
            raise self._refusal("value", f"{problem}.")
        return self._within_range(value)

    def _within_range(self, value: Any) -> Any:
        if self.between is not None and not self.between[0] <= value <= self.between[1]:
            low, high = self.between
            raise self._refusal("range", f"takes a whole number between {low} and {high}, got {shown(value)}.")
        if self.ranged:
            from crowdblend.guarantees.parameters import PARAMETERS  # noqa: PLC0415

            parameter = PARAMETERS[self.name]
            value = value if isinstance(value, int) else float(value)
            if not parameter.allows(value):
                raise self._refusal("range", f"takes {parameter.words()}, got {shown(value)}.")
        return value

    def _refusal(self, code: str, problem: str) -> InvalidInput:
        place = f"{self.name} in {self.section}" if self.section else self.name
        return refusal(code, f"{place} {problem}", f"Correct it: {self.meaning}", self.where)


def key(
    meaning: str,
    *,
    section: str = "",
    name: str | None = None,
    kind: Kind | None = None,
    required: bool = False,
    ranged: bool = False,
    between: tuple[int, int] | None = None,
    default: Any = None,
) -> Any:
    """Declare a key on the field of a dataclass; `name` is its name in TOML where Python has another."""
    declared = {
        "meaning": meaning,
        "section": section,
        "name": name,
        "kind": kind,
        "required": required,
        "ranged": ranged,
        "between": between,
    }
    return dataclasses.field(default=default, metadata={_METADATA: declared})


def keys_of(holder: type) -> dict[str, Key]:
    """Every key that a class declares, by the name of its field."""
    if holder not in _KEYS:
        _KEYS[holder] = _declared_keys(holder)
    return _KEYS[holder]


_KEYS: dict[type, dict[str, Key]] = {}


def _declared_keys(holder: type) -> dict[str, Key]:
    fields = [field for field in dataclasses.fields(holder) if _METADATA in field.metadata]
    hints = get_type_hints(holder) if fields else {}
    found = {}
    for field in fields:
        declared = field.metadata[_METADATA]
        kind, choices = _type_of(hints[field.name])
        section = declared["section"] or getattr(holder, "section", "")
        found[field.name] = Key(
            name=declared["name"] or field.name,
            section=f"[{section}]" if section and not section.startswith("[") else section,
            kind=declared["kind"] or kind,
            meaning=declared["meaning"],
            choices=choices,
            required=declared["required"],
            ranged=declared["ranged"],
            between=declared["between"],
            default=None if field.default is dataclasses.MISSING else field.default,
        )
    return found


def _type_of(hint: Any) -> tuple[Kind, tuple[str, ...]]:
    """The kind of value that an annotation stands for, and its choices."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(some for some in get_args(hint) if some is not type(None))
    if get_origin(hint) is Literal:
        return "text", get_args(hint)
    if get_origin(hint) is tuple:
        return "texts", ()
    plain: dict[Any, Kind] = {bool: "flag", int: "whole", float: "number", str: "text"}
    return plain.get(hint, "text"), ()


class Section:
    """A frozen dataclass whose keys are checked and converted when it is made, from TOML or in Python."""

    section = ""

    def __post_init__(self) -> None:
        for attribute, declared in keys_of(type(self)).items():
            value = getattr(self, attribute)
            if value is None:
                if declared.required:
                    raise missing_key(declared)
                if declared.default is not None:
                    object.__setattr__(self, attribute, declared.default)
                continue
            object.__setattr__(self, attribute, declared.read(value))


def missing_key(declared: Key) -> InvalidInput:
    """The refusal of a policy without a key that it needs."""
    place = declared.section or "The declaration"
    return refusal("missing-key", f"{place} has no {declared.name}.", f"Add it: {declared.meaning}", declared.where)


def refusal(code: str, message: str, remedy: str, where: str | None = None) -> InvalidInput:
    """An error about a policy; its code begins with `policy.`. Long names in it are cut."""
    return InvalidInput(_cut(message), remedy=_cut(remedy), where=where and where[:200], code=f"policy.{code}")


def _cut(text: str) -> str:
    return text if len(text) <= 400 else text[:397] + "…."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The remedy for an unknown name: the nearest known one, or all of them."""
    names = list(known)
    near = get_close_matches(name.lower(), names, n=1)
    if near:
        return f"Did you mean {near[0]}?"
    return f"Use {', '.join(names[:20])}{' …' if len(names) > 20 else ''}."


def naming(where: str, build: Callable[[], Result]) -> Result:
    """The result, or the same refusal with the place it is about in front."""
    try:
        return build()
    except InvalidInput as error:
        message = _cut(f"{where}: {error.message}")
        raise InvalidInput(message, remedy=error.remedy, where=where[:200], code=_policy_code(error.code)) from None


def _policy_code(code: str) -> str:
    """The code of an error in a policy: what another layer refuses there keeps its name, under `policy.`.

    A recoding that cannot be made is `policy.domain`, whichever of its keys is wrong.
    """
    area, _, name = code.rpartition(".")
    return "policy.domain" if area == "recoding" or code == InvalidInput.usual_code else f"policy.{name}"


PLACEHOLDER = "FILL_IN"


def read_keys(holder: type, table: Any, where: str, only: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The values of one section by the name of their field; `where` names the section in messages.

    `only` restricts the keys to some fields, for sections of which a policy holds the keys itself.
    """
    if not isinstance(table, Mapping):
        raise refusal(
            "section",
            f"{where} is {shown(table)} instead of a table of keys.",
            "Write key = value lines below it.",
            where,
        )
    declared = {key.name: attribute for attribute, key in (only or keys_of(holder)).items()}
    for name in table:
        if name not in declared:
            raise refusal(
                "unknown-key", f"{where} has no key {name!r}.", did_you_mean(name, declared), f"{where} {name}"
            )
    return {declared[name]: value for name, value in table.items()}


def refuse_placeholder(where: str, value: Any) -> None:
    """Refuse a starter policy that was not completed."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            refuse_placeholder(f"{where}.{name}" if where else name, item)
    elif isinstance(value, list):
        for item in value:
            refuse_placeholder(where, item)
    elif isinstance(value, str) and PLACEHOLDER in value:
        raise refusal("placeholder", f"{where} still says {PLACEHOLDER}.", "Write what you know beforehand.", where)
