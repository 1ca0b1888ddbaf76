"""The derivation as steps that unfold: what follows, by which theorem, from what."""

from __future__ import annotations

from crowdblend.calculus import Derivation
from crowdblend.reports.html import Html, element, join
from crowdblend.reports.numbers import fact


def tree(derivation: Derivation, *, opened: bool = False) -> Html:
    """A step, and inside it the steps it rests on."""
    theorem = derivation.rule.theorem
    parameters = ", ".join(f"{name} = {fact(value)}" for name, value in derivation.parameters.items())
    lines = [
        element("summary", element("code", theorem.id), " ", derivation.conclusion.words()),
        element("p", theorem.statement),
        element("p", "Source: ", theorem.source, class_="quiet"),
    ]
    if parameters:
        lines.append(element("p", "With ", element("code", parameters)))
    assumed = derivation.assumed()
    if assumed:
        lines.append(element("p", "Assuming: ", " ".join(each.sentence() for each in assumed), class_="quiet"))
    if derivation.premises:
        lines.append(element("p", "From:"))
    return element("details", join(*lines), *map(tree, derivation.premises), "\n", class_="step", open=opened)
