"""Rules about keys: which of them exclude or need each other, said once for the reader, the schema and the studio."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from crowdblend.notation import alternatives
from crowdblend.policies.key import Key, Part, Section, declarations_of
from crowdblend.policies.refusals import refusal


class KeyRule(Struct, frozen=True):
    """Keys that exclude or need each other, as `conflicts`, `needs` and `one_of` declare them.

    A key of another section is written `sampling.rate`, a key with one of its values `below_k=noise`. The rule does not
    hold where the key `unless` is given.
    """

    relation: Literal["conflicts", "needs", "one of"]
    keys: tuple[str, ...]
    code: str
    because: str
    unless: str = ""

    def check(self, holder: Section) -> None:
        """Refuse a section that breaks the rule: one sentence, what to do, and the place."""
        if self.unless and _is_given(holder, self.unless):
            return
        named = [_named(type(_holder_of(holder, name.partition(".")[0].partition("=")[0])), name) for name in self.keys]
        given = [_is_given(holder, name) for name in self.keys]
        known = [name for name, is_given in zip(named, given, strict=True) if is_given]
        first, others = named[0], alternatives(tuple(named[1:])) if named[1:] else ""
        if self.relation == "conflicts" and given[0] and (len(known) > 1 or not others):
            message = f"{first} and {known[1]} exclude each other" if others else f"{first} is not possible here"
            remedy = f"Remove {' or '.join(known[1::-1])}."
        elif self.relation == "needs" and given[0] and len(known) == 1:
            message, remedy = f"{first} needs {others}", f"Add {others}, or remove {first}."
        elif self.relation == "one of" and len(known) != 1:
            every = alternatives(tuple(named))
            message = f"{' and '.join(known)} exclude each other" if known else f"{every} is missing"
            remedy = f"Give exactly one of {', '.join(named)}."
        else:
            return
        name = getattr(holder, "name", None) if first.startswith(f"`{holder.section}.") else None
        who, because = f"{str(name)[:60]!r}: " if name else "", f": {self.because}" if self.because else ""
        raise refusal(self.code, f"{who}{message}{because}.", remedy, f"`{first.strip('`').partition(' = ')[0]}`")


def conflicts(name: str, *others: str, code: str | None = None, because: str = "", unless: str = "") -> KeyRule:
    """Declare that a key excludes each of the others; without others, that it is excluded itself."""
    return KeyRule("conflicts", (name, *others), code or name.rpartition(".")[2].replace("_", "-"), because, unless)


def needs(name: str, *others: str, code: str | None = None, because: str = "") -> KeyRule:
    """Declare that a key needs one of the others."""
    return KeyRule("needs", (name, *others), code or name.rpartition(".")[2].replace("_", "-"), because)


def one_of(*names: str, code: str, because: str = "") -> KeyRule:
    """Declare that exactly one of the keys is given."""
    return KeyRule("one of", names, code, because)


def _is_given(holder: object, name: str) -> bool:
    """Return whether a key has another value than its default, or the one that is named."""
    first, _, rest = name.partition(".")
    if isinstance(holder, tuple):
        return any(_is_given(item, name) for item in holder)
    if isinstance(holder, Section):
        holder = _holder_of(holder, first.partition("=")[0])
    if rest:
        return _is_given(getattr(holder, first, None), rest)
    first, _, value = first.partition("=")
    found = getattr(holder, first, None)
    if value:
        return bool(found == value)
    known = declarations_of(type(holder)).get(first) if isinstance(holder, Section) else None
    if found is None or found is False or (found == () and not isinstance(known, Key)):
        return False
    return known is None or found != known.default


def _holder_of(holder: Section, field: str) -> Section:
    """Return the section that a field is of: this one, or the one inside it."""
    inside = getattr(holder, holder.inner) if holder.inner else None
    return inside if isinstance(inside, Section) and field in inside.__struct_fields__ else holder


def _named(holder: type[Section], name: str) -> str:
    """Return a key as sentences name it, with its value where that matters."""
    first, _, rest = name.partition(".")
    first, _, value = first.partition("=")
    declared = declarations_of(holder).get(first)
    if isinstance(declared, Part):
        return _named(declared.holder, rest) if rest else declared.where
    if declared is None:
        return holder.said.get(first, f"`{holder.section}.{first}`")
    setting = f' = "{value}"' if value else " = true" if declared.kind == "flag" else ""
    return f"`{declared.path}{setting}`"
