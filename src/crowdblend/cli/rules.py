"""`crowdblend rules`."""

from __future__ import annotations

import difflib

import click

from crowdblend.cli.output import ALL, answer, answers, wrong_use
from crowdblend.trusted.calculus import RULES, Rule
from crowdblend.trusted.calculus.evidence import evidence, in_short


@click.command("rules", epilog=f"Example: crowdblend rules suppression.exact; {ALL} shows every one of them.")
@click.argument("rule_id", required=False)
@answers
def command(rule_id: str | None) -> None:
    """List every theorem that can appear in a certificate, or show one in full."""
    if rule_id not in (None, ALL, *RULES):
        near = difflib.get_close_matches(str(rule_id), RULES, 1)
        hint = f"Did you mean {near[0]}?" if near else "List them with crowdblend rules."
        raise wrong_use(f"There is no rule {rule_id!r}.", hint, "RULE_ID", "unknown-name")
    chosen = [*RULES.values()] if rule_id in (None, ALL) else [RULES[str(rule_id)]]
    if rule_id is None:
        lines = [f"{rule.id}  [{rule.theorem.source}]  {in_short(rule)}" for rule in chosen]
    else:
        lines = [line for rule in chosen for line in _in_full(rule)]
    answer({"rules": [_describe(rule) for rule in chosen]}, *lines)


def _in_full(rule: Rule) -> list[str]:
    return [
        rule.id,
        f"  {rule.theorem.statement}",
        f"  why: {rule.why}",
        *(f"  {line}" for line in evidence(rule)),
        *(f"  assuming: {assumption.pattern}" for assumption in rule.theorem.assumes),
    ]


def _describe(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "source": rule.theorem.source,
        "statement": rule.theorem.statement,
        "checked": evidence(rule),
        "premises": [kind.__name__ for kind in rule.premises],
        "parameters": list(rule.parameters),
        "conclusion": rule.conclusion.__name__,
        "assumes": [assumption.pattern for assumption in rule.theorem.assumes],
    }
