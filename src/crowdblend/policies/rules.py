"""Rules about keys: which of them exclude or need each other, said once for the reader, the schema and the studio."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

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
        places = [_place(holder, name) for name in self.keys]
        # Of keys of several sections each is named with its own, where exactly one of them is given.
        apart = self.relation == "one of" and len({place for place, _ in places}) > 1
        here = "" if apart else places[0][0]
        said = [text if place in (here, "") else f"{text} in {place}" for place, text in places]
        given = [_is_given(holder, name) for name in self.keys]
        known = [text for text, is_given in zip(said, given, strict=True) if is_given]
        first, others = said[0], " or ".join(filter(None, [", ".join(said[1:-1]), said[-1] if said[1:] else ""]))
        if self.relation == "conflicts" and given[0] and (len(known) > 1 or not others):
            message, remedy = " and ".join(known[:2]), f"Remove {' or '.join(known[1::-1])}."
        elif self.relation == "needs" and given[0] and len(known) == 1:
            message, remedy = f"{first} without {others}", f"Add {others}, or remove {first}."
        elif self.relation == "one of" and len(known) != 1:
            message, remedy = (
                " and ".join(known) or f"none of {', '.join(said)}",
                f"Give exactly one of {', '.join(said)}.",
            )
        else:
            return
        because = f": {self.because}" if self.because else ""
        name = getattr(holder, "name", None) if here == holder.section else None
        who = (here or ("The policy" if apart else "The declaration")) + (f" {str(name)[:60]!r}" if name else "")
        where = f"{places[0][0]} {first.partition(' ')[0]}".strip()
        raise refusal(self.code, f"{who} has {message}{because}.", remedy, where)


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


def _place(holder: Section, name: str) -> tuple[str, str]:
    """Return the section of a key, and the key as sentences name it, with its value where that matters."""
    return _place_in(type(_holder_of(holder, name.partition(".")[0].partition("=")[0])), name)


def _place_in(holder: type[Section], name: str) -> tuple[str, str]:
    first, _, rest = name.partition(".")
    first, _, value = first.partition("=")
    declared = declarations_of(holder).get(first)
    if isinstance(declared, Part):
        return _place_in(declared.holder, rest) if rest else ("", declared.title)
    if declared is None:
        return holder.section, holder.said.get(first, first)
    return declared.section, declared.name + (
        f' = "{value}"' if value else " = true" if declared.kind == "flag" else ""
    )
