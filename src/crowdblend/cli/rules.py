"""`crowdblend rules`."""

from __future__ import annotations

import difflib

import click

from crowdblend.calculus import RULES, Rule
from crowdblend.cli.output import emit, handle_errors, json_option
from crowdblend.errors import InvalidInput


@click.command("rules", epilog="Example: crowdblend rules suppression.exact")
@click.argument("rule_id", required=False)
@json_option
@handle_errors
def command(rule_id: str | None, *, as_json: bool) -> None:
    """List every theorem that can appear in a certificate, or show one in full."""
    if rule_id is not None and rule_id not in RULES:
        near = difflib.get_close_matches(rule_id, RULES, 1)
        hint = f"Did you mean {near[0]}?" if near else "List them with crowdblend rules."
        raise InvalidInput(f"There is no rule {rule_id!r}.", remedy=hint, where="RULE_ID", code="command.unknown-name")
    chosen = [RULES[rule_id]] if rule_id else list(RULES.values())
    if as_json:
        emit({"rules": [_describe(rule) for rule in chosen]})
        return
    for rule in chosen:
        click.echo(f"{rule.id}  [{rule.theorem.source}]")
        if rule_id:
            click.echo(f"  {rule.theorem.statement}\n  why: {rule.function.__doc__}")
            for assumption in rule.theorem.assumes:
                click.echo(f"  assuming: {assumption.pattern}")


def _describe(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "source": rule.theorem.source,
        "statement": rule.theorem.statement,
        "premises": [kind.__name__ for kind in rule.premises],
        "parameters": list(rule.parameters),
        "conclusion": rule.conclusion.__name__,
        "assumes": [assumption.pattern for assumption in rule.theorem.assumes],
    }
