"""Write what is derived: theorems, commands, keys of a policy, Python names, error codes, tables of docs/compared.md.

`make docs` runs this; a test compares the result with what is committed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

import crowdblend
from crowdblend.api.examples import EXAMPLES
from crowdblend.api.reference import EXAMPLE, PARAMETERS, parameters_of
from crowdblend.cli.main import COMMANDS, cli
from crowdblend.notation import TOML, section_title, spell
from crowdblend.policies.domains import DOMAINS, AxisDomain
from crowdblend.policies.key import Key, keys_of, parts_of, sections_of
from crowdblend.policies.policy import SPLITS
from crowdblend.policies.publication import Publication
from crowdblend.policies.registry import KINDS, WORDS, publication_class, publication_keys
from crowdblend.policies.sampling import DESIGNS
from crowdblend.policies.terms import Terms
from crowdblend.trusted.calculus import RULES, Rule
from crowdblend.trusted.calculus.evidence import evidence, summary
from crowdblend.trusted.calculus.rules.composition import REFUSALS
from docs import combinations, compared_tables, error_codes

DOCS = Path(__file__).parent

THEOREMS = """# Theorems

Every rule that can appear in a certificate. Generated from the code; `crowdblend rules ID` shows one of them.
Under every rule stand its proof in prose, what Coq has checked of it ([how the statements read](#what-coq-has-checked);
rounding is no part of them), and how many worlds tests enumerate. A world is a mechanism with its parameters, on all
tables of a few people or on a random one, of which all samples and all outcomes are enumerated; a world compared
at several ε counts once. Probabilities are fractions; for networks and a few kinds of noise they are floating-point
numbers or balls. Rules that no release applies are [applied by hand](derivations.md).

"CBP" is *Crowd-Blending Privacy*; "ZKP" *Towards Privacy for Social Networks: a zero-knowledge based definition of
privacy*, and "LQS" *k-Anonymization Meets Differential Privacy*.
"""


COMMANDS_HEAD = """# Commands

Generated from the code. Every command takes `--json`: one JSON object on stdout, and nothing else. What is refused is
one object too, `{"error": {"code", "where", "message", "remedy", "exit_code", "retry", "recorded", "entry"}}`: codes
such as `policy.unknown-key` keep their meaning, sentences may be improved. `where` is the section and key, the column
or the option, or null. The sentence is also on stderr.

## Exit codes

| exit code | what happened | what a scheduler does |
|---|---|---|
| 0 | done | goes on |
| 1 | it ran, and the answer is no: nothing reaches the target, a certificate does not verify | tells somebody |
| 2 | wrong use, policy or data (`data.…`), or a package is missing | tells somebody |
| 3 | the ledger refuses: an earlier release, a limit, no approval, a role's rights | tells a steward or an approver |
| 4 | not reachable or busy: a server, a database, another writer, another release in this folder | tries again later |
| 5 | a disk is full, or memory is used up | makes room and tries again |
| 6 | the release counts as spent, but its folder has not appeared | `crowdblend ledger resume` with `entry` |
| 70 | a defect of crowdblend | tells somebody, who reports it |
| 130, 143, … | stopped by Ctrl-C or a signal: 128 and its number | looks at `recorded` |

`recorded` says whether the ledger holds the release that was stopped, `entry` its number there; `recorded` is null
where the connection was lost while it was recorded, so that nobody knows. `retry` is true for 4, 5, 6 and signals: the
same command may succeed later, without a change of policy or data.
"""

# What a command is for, in a line, and the page that explains it.
COMMAND_PAGES = {
    "spark-package": ("what `spark-submit` ships to a cluster", "[clusters](clusters.md#what-to-ship)"),
    "plan": (
        "plan a policy, or solve for the one of k, rate, epsilon and delta that is left out",
        "[planning](plan.md)",
    ),
    "init": ("a policy to start from, from the names of your columns", "[a first policy](sources.md#a-first-policy)"),
    "propose": (
        "labels and bounds from the data, where no code book has them, at a small cost in privacy",
        "[domains from the data](sources.md#domains-from-the-data)",
    ),
    "check": (
        "which rows do not fit a policy, with values and counts: for you alone",
        "[checking rows](sources.md#check-your-rows)",
    ),
    "rehearse": (
        "try a policy on made-up people, or compare several: cells shown, people hidden, errors; costs nothing",
        "[rehearsing](plan.md#rehearse)",
    ),
    "hierarchy": ("hierarchy files from a rule", "[recodings](sources.md#i-have-a-column-of-)"),
    "release": ("publish under a policy, from thousands to a billion rows", "[releases](release.md)"),
    "verify": (
        "re-derive a certificate from its leaves, check the files, refuse what does not follow",
        "[certificates](certificates.md)",
    ),
    "sign": (
        "sign a release with an SSH key, for `verify --signer` and `ssh-keygen`",
        "[signed releases](certificates.md#signatures)",
    ),
    "read": ("estimates for the population with intervals, for any margin", "[for readers](reading.md)"),
    "report": ("a release explained on one page", "[reports](reading.md#the-report)"),
    "synthesize": (
        "synthetic rows from published tables, without touching data",
        "[synthetic rows](synopsis.md#from-published-tables)",
    ),
    "audit": ("try to break what a policy guarantees, by running it on made-up people", "[the audit](audit.md)"),
    "ledger": (
        "what was released about whom, what it adds up to, and limits that refuse",
        "[the ledger](ledger.md), [for a team](ledger.md#limits-for-a-team)",
    ),
    "studio": ("web pages on your own machine, from the data to the published folder", "[the studio](studio.md)"),
    "demo": ("plan, release and verify a made-up town, in three ways", "[releases](release.md)"),
    "attack": ("eleven attacks on releases that look safe, and the same attacks on ours", "[attacks](attacks.md)"),
    "reproduce": ("the papers' own tables and figures next to ours", "[papers](papers.md)"),
    "rules": ("every theorem that can appear in a certificate", "[theorems](theorems.md)"),
}

NAMES_HEAD = """# Python names

Generated from the code: what `import crowdblend as cb` offers. [From Python](python.md) shows how to use them. Every
example runs, one after the other, after these lines:
"""


def theorems() -> str:
    """The page with every rule, in the order of their chapters."""
    parts = [THEOREMS, f"{summary()}\n", *map(_theorem, RULES.values()), "## What does not compose\n"]
    parts += [
        f"- **{refusal.source}**: {refusal.reason}. Instead: {spell(refusal.remedy, TOML)}."
        for refusal in REFUSALS.values()
    ]
    statements = (DOCS.parent / "proofs" / "README.md").read_text(encoding="utf-8")
    return "\n".join([*parts, "", f"#{statements}"])


def _theorem(rule: Rule) -> str:
    premises = ", ".join(kind.__name__ for kind in rule.premises) + (" …" if rule.repeats else "")
    lines = [
        f"## {rule.id}\n",
        f"{rule.theorem.statement}\n",
        f"- from: {premises or 'nothing'}; parameters: {', '.join(rule.parameters) or 'none'}",
        f"- to: {rule.conclusion.__name__}",
        f"- why: {rule.why}",
        *(f"- {_linked(line)}" for line in evidence(rule)),
    ]
    lines += [f"- assuming: {assumption.pattern}" for assumption in rule.theorem.assumes]
    return "\n".join(lines) + "\n"


def _linked(line: str) -> str:
    return re.sub(r"docs/(proofs\.md#[\w-]+)", r"[\1](\1)", line)


def commands() -> str:
    """The command reference, as `--help` prints it."""
    rows = [f"| `crowdblend {name}` | {what} | {page} |" for name, (what, page) in _in_order()]
    parts = [COMMANDS_HEAD, "\n".join(["| command | what for | page |", "|---|---|---|", *rows]) + "\n"]
    parts += [_help(), *(_help(*names) for name in COMMANDS for names in _with_parts(name))]
    return "\n".join(parts)


def _in_order() -> list[tuple[str, tuple[str, str]]]:
    """Every command with its line; one without a line stops here."""
    return [(name, COMMAND_PAGES[name]) for name in COMMANDS]


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
        "Sections are said once, `[[publish]]` once for each publication; what a kind needs is "
        "[on the page about releases](release.md#kinds).\n"
    ]
    sections = {name: tuple(keys.values()) for name, keys in sections_of(Terms).items()}
    held = {part.name: tuple(keys_of(part.holder).values()) for part in parts_of(Terms).values()}
    parts += [
        _keys("[data]", sections["data"]),
        "## [sampling]\n",
        "`design` is one of these; each has keys of its own.\n",
    ]
    parts += [
        _keys(f'design = "{name}"', keys_of(one).values(), f"The data are {one.words}. {one.meaning}", deep=True)
        for name, one in DESIGNS.items()
    ]
    splits = " ".join(f"`{name}`: {meaning}" for name, meaning in SPLITS.items())
    parts.append(_keys("[privacy]", sections["privacy"]) + f"| `split` | With several publications. {splits} |\n")
    parts += [_keys(f"[{name}]", held[name]) for name in ("recoding", "about")]
    parts.append(_keys("[release]", sections["release"]))
    parts.append(_keys("[[publish]]", keys_of(Publication).values()))
    for kind in KINDS:
        parts.append(_keys(f'kind = "{kind}"', publication_keys(kind).values(), WORDS[kind].publishes, deep=True))
        parts += [
            _keys(section_title(part.name), keys_of(part.holder).values(), part.meaning, deep=True)
            for part in parts_of(publication_class(kind)).values()
            if not part.inline
        ]
    parts.append(
        "## [columns]\n\nA domain for every column that is published, declared from what is known beforehand. Nothing "
        "in a person's row may be computed from other people's rows or links "
        "([why](guarantee.md#whose-data-a-row-holds)).\n"
    )
    for way, domain in DOMAINS.items():
        parts.append(_keys(f"[columns], classes by {way}", keys_of(domain).values()))
    parts.append(_keys("[columns], axes of points", keys_of(AxisDomain).values()))
    return "\n".join(parts)


def _keys(title: str, keys: Iterable[Key], what: str = "", *, deep: bool = False) -> str:
    """One section: what it is about, and what its keys mean."""
    rows = [f"| `{key.name}` | {_meaning(key)} |" for key in keys]
    head = [f"{'###' if deep else '##'} {title}\n", *([f"{spell(what, TOML)}\n"] if what else [])]
    return "\n".join([*head, *(["| key | meaning |", "|---|---|", *rows] if rows else [])]).rstrip("\n") + "\n"


def _meaning(key: Key) -> str:
    """What a key means, and what it may say."""
    choices = f" One of {', '.join(f'`{choice}`' for choice in key.choices)}." if key.choices else ""
    return spell(key.meaning, TOML) + choices


def names() -> str:
    """The page with every name of the package: signature, docstring, and the methods that users call."""
    offered = {name: getattr(crowdblend, name) for name in sorted(crowdblend.__all__) if not name.startswith("_")}
    functions = [name for name, thing in offered.items() if not inspect.isclass(thing)]
    classes = [name for name, thing in offered.items() if inspect.isclass(thing)]
    said = crowdblend.__doc__ or ""
    session = _example("\n" + said[said.index(">>> ") :].rstrip())
    parts = [NAMES_HEAD, session, "## Functions\n", *(_named(name, offered[name]) for name in functions)]
    parts += ["## Values\n", *(_named(name, offered[name]) for name in classes)]
    return "\n".join(parts)


def _named(name: str, thing: Callable[..., object]) -> str:
    said, _, listed = (inspect.getdoc(thing) or "").partition(EXAMPLE)[0].partition(PARAMETERS)
    lines = [f"### {name}\n", _signature(name, thing), f"{said}\n"]
    if listed:
        entries = re.sub(r"\n {5,}", " ", listed)
        lines.append(re.sub(r"^ {4}(\w+): ", r"- `\1`: ", entries, flags=re.MULTILINE) + "\n")
    lines.append(_example(EXAMPLES[name]))
    for method, found in sorted(_members(thing).items()) if inspect.isclass(thing) else ():
        if method.startswith("_") or not inspect.isroutine(inspect.unwrap(getattr(found, "fget", found))):
            continue
        first = (inspect.getdoc(found) or "").partition("\n\n")[0].replace("\n", " ")
        call = method if isinstance(found, property | cached_property) else f"{method}(…)"
        lines.append(f"- `{call}`: {first}")
    return "\n".join(lines).rstrip() + "\n"


def _members(kind: type) -> dict[str, Any]:
    """Return what a class defines or has from other classes of the package."""
    ours = [one for one in reversed(inspect.getmro(kind)) if one.__module__.startswith("crowdblend.")]
    return {name: found for one in ours for name, found in vars(one).items()}


def _example(lines: str) -> str:
    return f"```python{lines}\n```\n"


STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def _signature(name: str, thing: Callable[..., object]) -> str:
    signature = inspect.signature(thing).parameters
    parameters = []
    for parameter in map(signature.__getitem__, parameters_of(thing)):
        optional = "=…" if parameter.default is not parameter.empty else ""
        parameters.append(f"{STARS.get(parameter.kind, '')}{parameter.name}{optional}")
    return f"`cb.{name}({', '.join(parameters)})`\n"


PAGES = {
    "theorems.md": theorems,
    "cli.md": commands,
    "policy.md": policy,
    "api.md": names,
    "combinations.md": combinations.page,
    "errors.md": error_codes.page,
    "compared.md": compared_tables.page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
