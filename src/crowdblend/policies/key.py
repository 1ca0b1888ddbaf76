"""A key of a policy, declared once: on the field that holds it.

    k: Annotated[int | None, key("The crowd size, the person included.", "k")] = None

The annotation says what the key takes, `key` what it means and which range it has. The reader, the writer, the JSON
schema, docs/policy.md, the starter and the checks of values made in Python all use this one declaration.
"""

from __future__ import annotations

import datetime
import inspect
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, Self, Union, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct, StructMeta, ValidationError, convert
from msgspec.structs import FieldInfo, fields, force_setattr, replace

from crowdblend.errors import InvalidInput
from crowdblend.notation import TOML, spell, within
from crowdblend.policies.refusals import did_you_mean, plain_value, problem_of, refusal, show_value
from crowdblend.policies.value_types import PLAIN, Kind
from crowdblend.trusted.guarantees.parameters import PARAMETERS, Parameter

_LARGEST, _LARGEST_WHOLE = 10**300, 10**18
_WHOLES = ("whole", "wholes", "level")
_NATIVE = (Decimal, datetime.date, datetime.datetime)


class Key(Struct, frozen=True):
    """A key of TOML: its name, its place, its type, and its meaning."""

    name: str
    section: str
    kind: str
    meaning: str
    takes: object
    words: str
    default: object = None
    required: bool = False
    choices: tuple[str, ...] = ()
    keeps: Callable[[Any], object] | None = None

    @property
    def path(self) -> str:
        """The key with its section, which keys of domains have none of."""
        return f"{self.section}.{self.name}" if self.section else self.name

    @property
    def where(self) -> str:
        """The key as sentences name it."""
        return f"`{self.path}`"

    def with_paths(self, value: object, place: Callable[[str], str]) -> object:
        """Return a value of this key with its paths placed elsewhere; other values as they are."""
        if self.kind == "paths" and isinstance(value, str | list | tuple):
            every = [value] if isinstance(value, str) else value
            return [place(one) if isinstance(one, str) else one for one in every]
        return place(value) if self.kind in ("path", "rates") and isinstance(value, str) and value.strip() else value

    def is_given(self, value: object) -> bool:
        """Return whether a value has to be written, because leaving it out would say something else."""
        return value is not None and (self.required or value != self.default)

    def read(self, value: object) -> object:
        """Return the value in the type that policies keep, or refuse it under the name of the key."""
        value = plain_value(value)
        problem = problem_of(value, _LARGEST_WHOLE if self.kind in _WHOLES else _LARGEST)
        if self.kind in ("path", "rates") and isinstance(value, str) and not value.strip():
            problem = "is blank"
        if problem is not None:
            raise refusal("value", f"{self.where} {problem}.", f"Correct it: {self.meaning}", self.where)
        try:
            found: object = convert(value, self.takes, builtin_types=_NATIVE)
        except ValidationError as error:
            text = str(error)
            code = (
                "choice" if text.startswith("Invalid enum") else "range" if "` <" in text or "` >" in text else "type"
            )
            message = f"{self.where} takes {self.words}, got {show_value(value)}."
            remedy = "Write it without quotes." if self._is_quoted(value) else f"Correct it: {self.meaning}"
            raise refusal(code, message, remedy, self.where) from None
        return found if self.keeps is None else self.keeps(found)

    def _is_quoted(self, value: object) -> bool:
        """Return whether a text spells a value that this key takes, such as "0.5"."""
        try:
            return isinstance(value, str) and convert(value, self.takes, strict=False) is not None
        except ValidationError:
            return False

    def missing(self, place: str = "") -> InvalidInput:
        """Return the refusal of a policy without a key that it needs; keys without a section are of a `place`."""
        where, of = (self.where, "") if self.section or not place else (within(place, self.name), f" of {place}")
        return refusal("missing-key", f"{self.where}{of} is missing.", f"Add it: {self.meaning}", where)


class Part(Struct, frozen=True):
    """A section of its own in a policy: the class of its values, and whether it may be repeated ([[name]])."""

    holder: type[Section]
    meaning: str
    many: bool
    required: bool
    default: object

    @property
    def name(self) -> str:
        """The name of the section."""
        return self.holder.section

    @property
    def where(self) -> str:
        """The section as sentences name it."""
        return f"`{self.name}`"

    @property
    def inline(self) -> bool:
        """True if its keys stand among those of a publication."""
        return self.name == "publish"

    def read(self, value: object) -> object:
        """Return a section of the right type, several of them as a tuple, or refuse the value."""
        items = value if self.many else (self.default if value is None else value,)
        if items == (None,) and not self.required:
            return None
        if not isinstance(items, list | tuple) or not all(isinstance(item, self.holder) for item in items):
            takes = f"a list of {self.holder.__name__} values" if self.many else f"a {self.holder.__name__} value"
            remedy = f"{self.meaning} For example Poisson(0.5)." if self.name == "sampling" else self.meaning
            raise refusal("type", f"{self.where} takes {takes}, got {show_value(value)}.", remedy, self.where)
        return tuple(items) if self.many else items[0]


class Declaration(Struct, frozen=True):
    """The declaration of a field by `key` or `part`."""

    meaning: str
    limits: Parameter | None = None
    section: str = ""
    name: str = ""
    is_part: bool = False


def key(
    meaning: str, limits: str | Parameter | tuple[int, int] | None = None, *, section: str = "", name: str = ""
) -> Declaration:
    """Declare a key in the annotation of its field.

    `limits` are a range, or those of the parameter of that name; `name` is the one in TOML where Python has another.
    """
    if isinstance(limits, tuple):
        limits = Parameter(*limits, "", whole=True)
    limited = limits if isinstance(limits, Parameter) else PARAMETERS.get(limits or "")
    return Declaration(meaning, limited, section, name)


def part(meaning: str) -> Declaration:
    """Declare a section in the annotation of the field that holds it."""
    return Declaration(meaning, is_part=True)


@cache
def fields_of(holder: type[Section]) -> tuple[FieldInfo, ...]:
    """Return the fields of a section, found once: their annotations take long to read."""
    return fields(holder)


@cache
def declarations_of(holder: type[Section]) -> dict[str, Key | Part]:
    """Return the keys and the sections that a class declares, by the names of their fields."""
    found: dict[str, Key | Part] = {}
    for field in fields_of(holder):
        declaration = next(
            (one for one in getattr(field.type, "__metadata__", ()) if isinstance(one, Declaration)), None
        )
        if declaration is None:
            continue
        required, default = field.default is NODEFAULT, None if field.default is NODEFAULT else field.default
        found[field.name] = (
            _part(field.type.__origin__, declaration, required, default)
            if declaration.is_part
            else _key(declaration.name or field.name, field.type, declaration, holder.section, required, default)
        )
    return found


def _part(hint: Any, declaration: Declaration, required: bool, default: object) -> Part:
    many = get_origin(hint) is tuple
    return Part(get_args(hint)[0] if many else _without_none(hint), declaration.meaning, many, required, default)


def _key(name: str, hint: Any, declaration: Declaration, section: str, required: bool, default: object) -> Key:
    inner = _without_none(hint.__origin__)
    marks = (*getattr(inner, "__metadata__", ()), *hint.__metadata__)
    inner = getattr(inner, "__origin__", inner) if get_origin(inner) is Annotated else inner
    choices: tuple[str, ...] = get_args(inner) if get_origin(inner) is Literal else ()
    kind = next((mark for mark in marks if isinstance(mark, Kind)), None) or PLAIN[str if choices else inner]
    limits = declaration.limits
    meta = Meta(description=spell(declaration.meaning, TOML), **(_ends(limits) if limits else {}))
    return Key(
        name=name,
        section=declaration.section or section,
        kind=kind.name,
        meaning=declaration.meaning,
        takes=Annotated[inner if kind.takes is None else kind.takes, meta],
        words=" or ".join(f'"{one}"' for one in choices) or (limits.words() if limits else kind.words),
        default=default,
        required=required,
        choices=choices,
        keeps=kind.keeps,
    )


def _without_none(hint: Any) -> Any:
    members = [one for one in get_args(hint) if one is not NoneType] if get_origin(hint) in (Union, UnionType) else []
    return members[0] if len(members) == 1 else hint


def _ends(limits: Parameter) -> dict[str, Any]:
    ends = {"gt" if limits.low_open else "ge": limits.low, "lt" if limits.high_open else "le": limits.high}
    return {name: end for name, end in ends.items() if end != math.inf}


def keys_of(holder: type[Section]) -> dict[str, Key]:
    """Return every key that a class declares, by the name of its field."""
    declared = declarations_of(holder).items()
    return {name: one for name, one in declared if isinstance(one, Key) and name not in holder.without}


def parts_of(holder: type[Section]) -> dict[str, Part]:
    """Return the sections that a policy declares beside its own keys, by the name of the field."""
    return {name: one for name, one in declarations_of(holder).items() if isinstance(one, Part)}


def sections_of(holder: type[Section]) -> dict[str, dict[str, Key]]:
    """Return the keys of a policy itself, by section and by the name of the field."""
    found: dict[str, dict[str, Key]] = {}
    for name, one in keys_of(holder).items():
        found.setdefault(one.section, {})[name] = one
    return found


class Rule(Protocol):
    """A rule about the keys of a section, such as those that exclude or need each other."""

    def check(self, holder: Section) -> None:
        """Refuse a section that breaks the rule."""


def _type_alone(hint: Any) -> Any:
    """Return a type without what annotations say of it beside."""
    if get_origin(hint) is Annotated:
        return _type_alone(hint.__origin__)
    if get_origin(hint) is Literal or not get_args(hint):
        return hint
    inner = tuple(map(_type_alone, get_args(hint)))
    return reduce(or_, inner) if get_origin(hint) in (Union, UnionType) else get_origin(hint)[inner]


_DOCSTRING: Any = vars(type)["__doc__"]


class _Arguments(StructMeta):
    """Classes that refuse what they have no argument for."""

    if not TYPE_CHECKING:  # type checkers know the arguments by the fields

        def __call__(self, *values: object, **arguments: object) -> object:
            """Return a new value."""
            if self.positional and values:
                values, arguments = (), {self.positional: values, **arguments}
            inline = {field: part for field, part in parts_of(self).items() if part.inline}
            known = arguments_of(self)
            unsaid = {one.name: one.default for one in fields_of(self) if one.name in self.without}
            for wrong, value in arguments.items():
                # A value that is read from another process has all its fields.
                if wrong not in known and wrong not in inline and unsaid.get(wrong, NODEFAULT) != value:
                    raise unknown_argument(self, wrong)
            for field, part in inline.items():
                if field not in arguments:
                    own = [name for name in keys_of(part.holder) if name in arguments]
                    arguments[field] = part.holder(**{name: arguments.pop(name) for name in own})
            return super().__call__(*values, **arguments)

        @property
        def __doc__(self) -> str | None:
            """The docstring of the class: without this, help() finds that of its metaclass."""
            return _DOCSTRING.__get__(self)

        @__doc__.setter  # noqa: A003
        def __doc__(self, text: object) -> None:
            _DOCSTRING.__set__(self, text)

        @property
        def __signature__(self) -> inspect.Signature:
            """The arguments as they are given: positional ones of any number, those of inline sections as its own."""
            known = dict(StructMeta.__signature__.__get__(self).parameters)
            for one in parts_of(self).values():
                known |= inspect.signature(one.holder).parameters if one.inline else {}
            found = [known[name] for name in arguments_of(self) if name != self.positional]
            found = [one.replace(annotation=_type_alone(one.annotation)) for one in found]
            found.sort(key=lambda one: one.default is not inspect.Parameter.empty)
            if self.positional:
                several = _type_alone(known[self.positional].annotation)
                kind = inspect.Parameter.VAR_POSITIONAL
                found.insert(0, inspect.Parameter(self.positional, kind, annotation=get_args(several)[0]))
            return inspect.Signature(found)


def unknown_argument(holder: type[Section], wrong: str) -> InvalidInput:
    """Return the refusal of an argument that a section does not have."""
    remedy = holder.elsewhere.get(wrong) or did_you_mean(wrong, arguments_of(holder))
    message = f"{holder.__name__} has no argument {wrong[:60]!r}."
    return refusal("unknown-argument", message, remedy, wrong[:60])


def arguments_of(holder: type[Section]) -> list[str]:
    """Return the names of the arguments that make a section: its fields, and the keys of sections that are inline."""
    declared = parts_of(holder)
    found: list[str] = []
    for name in holder.__struct_fields__:
        if name in declared and declared[name].inline:
            found += keys_of(declared[name].holder)
        elif name not in holder.without:
            found.append(name)
    return found


class Section(Struct, frozen=True, kw_only=True, dict=True, repr_omit_defaults=True, metaclass=_Arguments):
    """A frozen value whose keys are checked and converted when it is made, from TOML or in Python."""

    section: ClassVar[str] = ""
    rules: ClassVar[tuple[Rule, ...]] = ()
    said: ClassVar[Mapping[str, str]] = {}  # how sentences say what has no key of its name
    elsewhere: ClassVar[Mapping[str, str]] = {}  # what to do with arguments that belong to another value
    without: ClassVar[tuple[str, ...]] = ()  # fields of a parent that cannot be said
    positional: ClassVar[str] = ""  # the field of positional arguments, of which there can be any number
    inner: ClassVar[str] = ""  # the field of a section whose keys rules name as well

    def __post_init__(self) -> None:
        for name, declared in declarations_of(type(self)).items():
            value: object = getattr(self, name)
            if isinstance(declared, Part) or value is not None:
                force_setattr(self, name, declared.read(value))
            elif declared.required:
                raise declared.missing()
            elif declared.default is not None:
                force_setattr(self, name, declared.default)
        for owner in reversed(type(self).__mro__):
            for rule in vars(owner).get("rules", ()):
                rule.check(self)

    def replace(self, **changes: object) -> Self:
        """Return the same value with `changes`, other values for some fields, checked as a new one."""
        return replace(self, **changes)
