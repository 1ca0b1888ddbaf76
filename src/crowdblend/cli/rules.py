"""`crowdblend rules`."""

from __future__ import annotations

import difflib

import click

from crowdblend.calculus import RULES, Rule
from crowdblend.calculus.evidence import evidence, in_short
from crowdblend.cli.output import answer, answers, wrong_use


@click.command("rules", epilog="Example: crowdblend rules suppression.exact")
@click.argument("rule_id", required=False)
@answers
def command(rule_id: str | None) -> None:
    """List every theorem that can appear in a certificate, or show one in full."""
    if rule_id is not None and rule_id not in RULES:
        near = difflib.get_close_matches(rule_id, RULES, 1)
        hint = f"Did you mean {near[0]}?" if near else "List them with crowdblend rules."
        raise wrong_use(f"There is no rule {rule_id!r}.", hint, "RULE_ID", "unknown-name")
    chosen = [RULES[rule_id]] if rule_id else list(RULES.values())
    lines = [f"{rule.id}  [{rule.theorem.source}]  {in_short(rule)}" for rule in chosen]
    if rule_id:
        lines = [rule_id]
        theorem = chosen[0].theorem
        lines += [f"  {theorem.statement}", f"  why: {chosen[0].why}"]
        lines += [f"  {line}" for line in evidence(chosen[0])]
        lines += [f"  assuming: {assumption.pattern}" for assumption in theorem.assumes]
    answer({"rules": [_describe(rule) for rule in chosen]}, *lines)


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
