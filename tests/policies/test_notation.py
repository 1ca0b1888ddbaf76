"""Keys of policies stand in sentences in backticks, declared, and never in the notation of one caller."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import crowdblend
from crowdblend.notation import PYTHON, SECTIONS, TOML, Key, Setting, reference, spell
from crowdblend.policies.domains import DOMAINS, AxisDomain
from crowdblend.policies.key import Section, keys_of, parts_of
from crowdblend.policies.registry import KINDS, policy_class, publication_class
from crowdblend.policies.sampling import DESIGNS
from crowdblend.policies.terms import Terms
from tests.cases import for_each

SOURCE = Path(crowdblend.__file__).parent
# What writes policy files or commands, or shows examples of them.
WRITERS: tuple[str, ...] = ("cli/", "lab/attacks/", "lab/papers/", "lab/demo/", "reading/figures/")
WRITERS += ("policies/starter.py", "policies/proposals.py", "policies/write.py", "policies/load.py")
WRITERS += ("api/examples.py", "notation.py")
_CASE = "depends_on_the_case"


def declared() -> set[tuple[str, str]]:
    """Every key that a policy can have, with its section."""
    holders: list[type[Section]] = [Terms, AxisDomain, *DESIGNS.values(), *DOMAINS.values()]
    holders += [make(kind) for kind in KINDS for make in (publication_class, policy_class)]
    holders += [part.holder for one in holders for part in parts_of(one).values()]
    known = {(key.section, key.name) for one in holders for key in keys_of(one).values()}
    return known | {("sampling", "design"), ("publish", "kind"), ("privacy", "split")}


def sentences() -> Iterator[tuple[str, str]]:
    """Every text of the source but docstrings, with its place; what depends on the case is one name."""
    for file in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        within = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
        plain = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            place = f"{file.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.JoinedStr):
                yield (
                    place,
                    "".join(
                        str(getattr(one, "value", "")) if isinstance(one, ast.Constant) else _CASE
                        for one in node.values
                    ),
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (within | plain):
                yield place, node.value


def test_no_sentence_spells_a_key_by_hand() -> None:
    names = "|".join(sorted({name for _, name in declared()}))
    by_hand = re.compile(rf"\[\[?({'|'.join(SECTIONS)})\]|(?<![`\w.])({names}) = (true|false|\")")
    found = [(place, text) for place, text in sentences() if not place.startswith(WRITERS)]
    assert len(found) > 5000
    assert [(place, text) for place, text in found if by_hand.search(text)] == []


def test_python_spells_keys_as_its_arguments() -> None:
    holders: list[type[Section]] = [Terms, AxisDomain, *DESIGNS.values(), *DOMAINS.values()]
    holders += [publication_class(kind) for kind in KINDS]
    renamed = {(key.where, field) for one in holders for field, key in keys_of(one).items() if field != key.name}
    assert len(renamed) > 2
    assert [(where, field) for where, field in sorted(renamed) if spell(where, PYTHON) != field] == []


def test_every_key_in_backticks_is_declared() -> None:
    known, found = declared(), []
    for place, text in sentences():
        for quoted in text.split("`")[1::2]:
            named = reference(quoted)
            key = named.key if isinstance(named, Setting) else named
            if isinstance(key, Key) and key.section and _CASE not in key.name:
                found.append((place, key))
    assert len(found) > 200
    assert [one for one in found if one[1] not in known and one[1].section != "columns"] == []


@for_each(
    ("text", "toml", "python"),
    [
        ("Add `privacy.epsilon`.", "Add [privacy] epsilon.", "Add epsilon."),
        ("`sampling.rate` is 2.", "[sampling] rate is 2.", "sampling.rate is 2."),
        ("`publish.statistics` is empty.", "[[publish.statistics]] is empty.", "statistics is empty."),
        ('Use `sampling.design = "coins"`.', 'Use [sampling] design = "coins".', "Use sampling=Coins(…)."),
        ('`publish.kind = "outlier-table"` has none.', 'kind = "outlier-table" has none.', "OutlierTable has none."),
        ('`privacy.split = "a" | "b" | "c"`', '[privacy] split = "a", "b" or "c"', 'split="a", "b" or "c"'),
        ("`data.format` and `to = 3`", "[data] format and to = 3", "source_format and stop=3"),
        (
            "Pass `--force`, or `--engine spark`.",
            "Pass --force, or --engine spark.",
            'Pass force=True, or engine="spark".',
        ),
        ("`crowdblend check` shows it.", "crowdblend check shows it.", "check(data, policy) shows it."),
        ("`crowdblend ledger show 3`", "crowdblend ledger show 3", "Ledger.entry(3)"),
        (
            "`crowdblend ledger overlap 'a town' 'b'`",
            "crowdblend ledger overlap 'a town' 'b'",
            "Ledger.overlap('a town', 'b')",
        ),
        (
            "`columns.x = { breaks = [0, 1], whole = true }`",
            "[columns] x = { breaks = [0, 1], whole = true }",
            'columns={"x": breaks(0, 1, whole=True)}',
        ),
        (
            "Column 'a`b' and `x y` stay, as does a `",
            "Column 'a`b' and `x y` stay, as does a `",
            "Column 'a`b' and `x y` stay, as does a `",
        ),
        ("Column 'a`' has no `publish.k`.", "Column 'a`' has no [[publish]] k.", "Column 'a`' has no k."),
    ],
)
def test_what_stands_in_backticks_is_spelled_for_the_caller(text: str, toml: str, python: str) -> None:
    assert spell(text, TOML) == toml
    assert spell(text, PYTHON) == python
    assert spell(text, None) == text
