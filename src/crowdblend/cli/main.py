"""`crowdblend`: every command, each in a file of its own and loaded only when it is called."""

from __future__ import annotations

import importlib
import signal
import sys
import warnings
from contextlib import ExitStack
from typing import Any, NoReturn

import click

from crowdblend.cli.output import exit_with_error, machine_limits, tolerate_narrow_streams
from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.notation import TOML, spell
from crowdblend.trusted.machine.lazy import lazy_imports
from crowdblend.trusted.machine.stopping import stopped_by
from crowdblend.trusted.machine.system import ending_signals
from crowdblend.trusted.machine.version import __version__

with lazy_imports():
    from crowdblend.trusted.machine import observing

COMMANDS = {
    "plan": "Plan a policy, or solve for k, rate, epsilon or delta.",
    "init": "Write a commented policy to start from.",
    "propose": "Propose labels and bounds from the data, at a small cost in privacy.",
    "check": "Show you alone which rows do not fit a policy.",
    "rehearse": "Try a policy on made-up people, which costs nothing.",
    "hierarchy": "Make a hierarchy file for a column, from a rule.",
    "release": "Sample, recode and publish what a policy says.",
    "verify": "Re-derive a certificate and refuse what does not follow.",
    "sign": "Sign a release with an SSH key.",
    "read": "Print estimates for the population, with intervals.",
    "report": "Explain a release on one page.",
    "synthesize": "Draw synthetic rows from published tables, which costs no privacy.",
    "audit": "Try to break what a policy or a mechanism guarantees.",
    "ledger": "Show what was released, what it comes to, which limits hold, and whether the record is whole.",
    "studio": "Make releases on web pages of your own machine.",
    "spark-package": "Write what spark-submit ships to a cluster.",
    "demo": "Publish a made-up town in three ways.",
    "attack": "Break releases that look safe, and try the same on ours.",
    "reproduce": "Print or plot the papers' own tables and figures next to ours.",
    "rules": "List the theorems, or show one.",
}


# The signals that came to end the command: what was at work may make something else of them on the way out.
_RECEIVED: list[int] = []


# The place of the name of the command in the context.
_CALLED = "crowdblend.command"


class _Lazy(click.Group):
    """Loads a command's module when that command is called, so that planning stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"crowdblend.cli.{cmd_name.replace('-', '_')}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what the library or the machine refuses becomes one sentence and an exit code."""
        as_json = "--json" in ctx.args
        try:
            with machine_limits():
                return super().invoke(ctx)
        except CrowdblendError as refused:
            if _RECEIVED:  # what refused stumbled over the signal
                raise KeyboardInterrupt from refused
            exit_with_error(refused, as_json=as_json)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called; its name, that of one within it included, is kept for events."""
        name, command, rest = super().resolve_command(ctx, args)
        within = command.commands if isinstance(command, click.Group) else {}
        ctx.meta[_CALLED] = " ".join([str(name), *(word for word in rest[:1] if word in within)])
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


# Commands in name alone, for "Did you mean": each is loaded when it is called.
_NAMES = {name: click.Command(name) for name in COMMANDS}


@click.group(cls=_Lazy, commands=_NAMES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="crowdblend")
@click.option(
    "--log", metavar="FILE", envvar="CROWDBLEND_LOG", help="Append events as JSON lines to FILE; '-' for stderr."
)
@click.option(
    "--metrics", metavar="FILE", envvar="CROWDBLEND_METRICS", help="Write metrics for Prometheus's textfile collector."
)
@click.pass_context
def cli(context: click.Context, *, log: str | None, metrics: str | None) -> None:
    """Publish data about people: exact where the crowd is large enough, under a certificate anyone can re-check.

    Exit codes: 0 done; 1 it ran and the answer is no; 2 wrong use, policy or data; 3 the ledger refuses; 4 not
    reachable, try again; 5 no room, try again; 6 recorded and not published, resume; 70 internal error; 130 stopped by
    Ctrl-C.
    """
    if (log or metrics) and isinstance(context.obj, ExitStack):
        context.obj.enter_context(observing.observe_command(context.meta[_CALLED], log=log, metrics=metrics))


def main() -> None:
    """Entry point: what click refuses becomes one sentence and an exit code, too; events are written if asked for."""
    with ExitStack() as observers:
        _run(observers)


def _run(observers: ExitStack) -> NoReturn:
    _RECEIVED.clear()

    def stop(number: int, _: object) -> NoReturn:
        """Leave as Ctrl-C does, so that temporary files with data in them are removed."""
        _RECEIVED.append(number)
        raise KeyboardInterrupt

    for ending in ending_signals():
        if ending != signal.SIGINT or signal.getsignal(ending) is signal.default_int_handler:  # else it is ignored
            signal.signal(ending, stop)
    tolerate_narrow_streams()
    # A sentence, without the line of code that it comes from.
    warnings.showwarning = lambda message, *_: click.echo(
        f"crowdblend: warning: {spell(str(message.args[0]), TOML)}", err=True
    )
    try:
        sys.exit(cli.main(standalone_mode=False, obj=observers) or 0)
    except click.exceptions.Exit as leaving:
        sys.exit(leaving.exit_code)
    except click.Abort as aborted:
        _exit_stopped(aborted.__cause__ or aborted)
    except click.exceptions.NoArgsIsHelpError as asked:
        click.echo(asked.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as wrong:
        near = getattr(wrong, "possibilities", None)
        sentence = (wrong.message if near else wrong.format_message()).replace("\n", " ").rstrip(".")
        remedy = f"{f'Did you mean {near[0]}? ' if near else ''}See crowdblend --help."
        if getattr(wrong, "option_name", None) in {one for param in cli.params for one in param.opts}:
            remedy = "Write it before the command, as in crowdblend --log FILE release."
        option = getattr(wrong, "option_name", None) or getattr(getattr(wrong, "param", None), "name", None)
        usage = InvalidInput(f"{sentence}.", remedy=remedy, where=option, code="command.usage")
        exit_with_error(usage, as_json="--json" in sys.argv)
    except Exception as problem:
        if not _RECEIVED:
            raise
        _exit_stopped(problem)


def _exit_stopped(problem: BaseException) -> NoReturn:
    """Say that a signal stopped the command, with what was recorded where that is known."""
    stopped = stopped_by(problem, (_RECEIVED or [signal.SIGINT])[-1])
    exit_with_error(stopped, as_json="--json" in sys.argv)
