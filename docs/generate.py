"""Write the pages that are derived from the code: the theorems, the commands and the keys of a policy.

`make docs` runs this; a test compares the result with what is committed.
"""

from __future__ import annotations

from pathlib import Path

import click
from click.testing import CliRunner

from crowdblend.calculus import RULES, Rule
from crowdblend.calculus.rules.composition import REFUSALS
from crowdblend.cli.main import COMMANDS, cli
from crowdblend.policies.keys import AXIS, COLUMN_KINDS, GRAPH, GRAPH_STATISTICS, LISTS, PARTS_OF, SECTIONS, Key

DOCS = Path(__file__).parent

THEOREMS = """# Theorems

Every rule that can appear in a certificate. Generated from the code; `crowdblend rules ID` shows one of them.

"CBP" is *Crowd-Blending Privacy*; "ZKP" *Towards Privacy for Social Networks: a zero-knowledge based definition of
privacy*; "LQS" *k-Anonymization Meets Differential Privacy*; "NOTES" notes on crowd-blending and outlier privacy.
"""


def theorems() -> str:
    """The page with every rule, in the order of their chapters."""
    parts = [THEOREMS, *map(_theorem, RULES.values()), "## What does not compose\n"]
    parts += [f"- **{refusal.source}**: {refusal.reason}. Instead: {refusal.remedy}." for refusal in REFUSALS.values()]
    return "\n".join(parts) + "\n"


def _theorem(rule: Rule) -> str:
    premises = ", ".join(kind.__name__ for kind in rule.premises) + (" …" if rule.repeats else "")
    lines = [
        f"## {rule.id}\n",
        f"{rule.theorem.statement}\n",
        f"- source: {rule.theorem.source}",
        f"- from: {premises or 'nothing'}; parameters: {', '.join(rule.parameters) or 'none'}",
        f"- to: {rule.conclusion.__name__}",
        f"- why: {rule.function.__doc__}",
    ]
    lines += [f"- assuming: {assumption.pattern}" for assumption in rule.theorem.assumes]
    return "\n".join(lines) + "\n"


def commands() -> str:
    """The command reference, as `--help` prints it."""
    parts = ["# Commands\n\nGenerated from the code. Every command takes `--json`: one JSON object on stdout.\n"]
    parts += [_help(), *(_help(*names) for name in COMMANDS for names in _with_parts(name))]
    return "\n".join(parts)


def _with_parts(name: str) -> list[tuple[str, ...]]:
    """A command, and what it consists of when it is a group."""
    found = cli.get_command(click.Context(cli), name)
    return [(name,), *((name, part) for part in getattr(found, "commands", {}))]


def _help(*command: str) -> str:
    printed = CliRunner().invoke(cli, [*command, "--help"], prog_name="crowdblend", terminal_width=100).output
    return f"## {' '.join(['crowdblend', *command])}\n\n```\n{printed}```\n"


def policy() -> str:
    """Every key of a policy, from the declarations that check it."""
    parts = [
        "# Policy keys\n\nGenerated from the code. `crowdblend init --schema FILE` writes the same for editors. "
        "Which sections a kind of release needs is [on the page about releases](release.md#kinds).\n"
    ]
    sections = {f"[{name}]": keys for name, keys in SECTIONS.items()}
    sections |= {f"[[{name}]]": keys for name, keys in LISTS.items()}
    sections |= {"[graph]": GRAPH, "[[graph.statistics]]": GRAPH_STATISTICS}
    sections |= {f"[columns], classes by {name}": keys for name, keys in COLUMN_KINDS.items()}
    sections |= {"[columns], axes of points": AXIS}
    for title, keys in sections.items():
        rows = [f"| `{key.name}` | {_meaning(key)} |" for key in keys]
        parts.append("\n".join([f"## {title}\n", *_belonging(title), "| key | meaning |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def _meaning(key: Key) -> str:
    """What a key means, what it may say, and in which kinds of release."""
    told = [key.meaning]
    if key.choices:
        told.append(f"One of {', '.join(f'`{choice}`' for choice in key.choices)}.")
    if key.kinds:
        told.append(_only(key.kinds))
    return " ".join(told)


def _belonging(title: str) -> list[str]:
    """The kinds of release that a section belongs to, where it does not belong to all."""
    kinds = PARTS_OF.get(title.strip("[]").split(".")[0])
    return [f"{_only(kinds)}\n"] if kinds else []


def _only(kinds: tuple[str, ...]) -> str:
    return f"Only with `kind` {' or '.join(f'`{kind}`' for kind in kinds)}."


PAGES = {"theorems.md": theorems, "cli.md": commands, "policy.md": policy}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
