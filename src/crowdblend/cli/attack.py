"""`crowdblend attack`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import click

from crowdblend.cli.output import ALL, align, answer, answers, force_option, wrong_use
from crowdblend.lab.attacks import ATTACKS, attack
from crowdblend.lab.attacks.trial import Attack, Chance, Finding, Trial
from crowdblend.reading.figures.charts import save
from crowdblend.trusted.guarantees.wording import at_most

RUNS = 2_000
MOST_RUNS = 100_000
WIDTH = 100


@click.command("attack", epilog=f"Names: {', '.join(ATTACKS)}; {ALL} for every one of them.")
@click.argument("name", required=False)
@click.option("--plot", metavar="FILE", help="Draw it (.svg).")
@click.option(
    "--runs",
    type=int,
    default=RUNS,
    show_default=True,
    help="How often the real code runs in either world; 0 computes only.",
)
@force_option
@answers
def command(name: str | None, *, plot: str | None, runs: int, force: bool) -> None:
    """Try to break a release that looks safe, and ours of the same data. Without a name: list the attacks.

    Exit code 1 when ours gave more away than its certificate allows, or the attack did not work as told, or the code
    did not do what was computed of it.
    """
    if name is None:
        answer({"attacks": ATTACKS}, *(f"{name:<14} {about}" for name, about in ATTACKS.items()))
        return
    if not 0 <= runs <= MOST_RUNS:
        message = f"--runs takes a number between 0 and {MOST_RUNS}, got {runs}."
        raise wrong_use(message, "More runs show smaller differences.", "--runs", "range")
    if plot and name == ALL:
        raise wrong_use("--plot draws one figure.", "Name it.", "--plot")
    attacks = [attack(one) for one in (ATTACKS if name == ALL else (name,))]
    outcomes = [(one, one.launch(runs)) for one in attacks]
    if plot:
        save(outcomes[0][1].chart, Path(plot), force=force)
    documents = [one.to_dict(found) for one, found in outcomes]
    stories = [[*_story_lines(one, found, runs), *([""] if name == ALL else [])] for one, found in outcomes]
    answer({"outcomes": documents} if name == ALL else documents[0], *(line for story in stories for line in story))
    if not all(found.ours_hold and found.target_broken and found.as_computed for _, found in outcomes):
        raise click.exceptions.Exit(1)


def _story_lines(attack: Attack, finding: Finding, runs: int) -> Iterator[str]:
    """Yield the story, the question, the numbers, and what follows."""
    with_, without = attack.worlds
    about = [f"{attack.title} ({attack.source})", "", attack.story, ""]
    yield from _wrap(*about, f"The attacker looks whether {attack.event}.", f"with:    {with_}")
    yield from _wrap(f"without: {without}", "")
    rows = [_row(finding, trial) for trial in finding.trials]
    yield from align([["release", "with", "without", "allowed", "right", ""], *rows])
    bounds = [(trial.release, trial.bound) for trial in finding.trials if trial.bound]
    held = [[release, at_most(bound.epsilon), at_most(bound.delta), bound.source] for release, bound in bounds]
    yield from ("", *align([["release", "epsilon", "delta", "guaranteed by"], *held]))
    if runs:
        how = "with standard errors, ours by the samplers and mechanisms that publish"
        yield from _wrap("", f"Seen in {runs} runs {how}:", "")
        pairs = [(trial.release, trial.runs) for trial in finding.trials if trial.runs is not None]
        seen = [[release, _frequency(pair.hit), _frequency(pair.miss)] for release, pair in pairs]
        yield from align([["release", "with", "without"], *seen])
    yield from _wrap("", *([finding.remark] if finding.remark else []), _verdict(finding))


def _row(finding: Finding, trial: Trial) -> list[str]:
    pair, bound = trial.best, trial.bound or finding.guarantee
    word = ("BROKEN" if trial.ours else "broken") if finding.broken(trial) else "holds"
    chances = (float(pair.hit.value), float(pair.miss.value), bound.allows(pair.miss.value))
    return [trial.release, *(f"{chance:.4g}" for chance in chances), f"{pair.right:.1%}", word]


def _frequency(chance: Chance) -> str:
    """Return a frequency with its standard error, or with a bound where that would be 0."""
    if chance.value == 0:
        return f"0, below {chance.high:.2g}"
    if chance.value == 1:
        return f"1, above {chance.low:.4g}"
    return f"{float(chance.value):.4g} ± {chance.standard_error:.2g}"


def _verdict(finding: Finding) -> str:
    ours = "Ours stays within its guarantee" if finding.ours_hold else "OURS GAVE AWAY MORE THAN IT GUARANTEES"
    target = "is broken" if finding.target_broken else "could not be shown broken in so few runs"
    wrong = [trial.release for trial in finding.trials if not trial.as_computed]
    differs = f" BUT THE RUNS CONTRADICT WHAT WAS COMPUTED: {'; '.join(wrong)}." if wrong else ""
    return f"The unsafe release {target}. {ours}.{differs}"


def _wrap(*paragraphs: str) -> Iterator[str]:
    for paragraph in paragraphs:
        yield textwrap.fill(paragraph, WIDTH, subsequent_indent="         " if ":  " in paragraph[:10] else "")
