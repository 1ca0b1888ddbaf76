"""Whatever a policy says, it is a policy or an error with a code, a sentence and a remedy; what loads is planned.

20,000 mutated policies in the long suite, a fortieth of them always.
"""

import re
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from crowdblend.errors import CrowdblendError, InvalidInput
from crowdblend.kinds import plan
from crowdblend.policies.load import parse_policy

from .mutation import Mutator

CODE = re.compile(r"[a-z]+(-[a-z]+)*(\.[a-z]+(-[a-z]+)*)?")
EACH, ALWAYS = 1_000, 250
SECONDS_TO_PLAN = 2.0


class TooSlowError(Exception):
    """The plan was not found within the time of this test; it is no failure of the policy."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: Any) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check_error(error: CrowdblendError) -> None:
    """One or two sentences and a remedy, on one line, with a code."""
    assert CODE.fullmatch(error.code), error.code
    assert error.exit_code in (1, 2)
    assert error.message, error
    assert len(re.findall(r"[.?!] [A-Z]", error.message)) <= 1, error.message
    assert "\n" not in error.message
    assert len(str(error)) < 1_000
    assert "Traceback" not in str(error)


def outcome(text: str, folder: Path) -> str:
    """What becomes of a policy: the code that refuses it, or that it is planned."""
    try:
        policy = parse_policy(text, folder)
    except CrowdblendError as error:
        check_error(error)
        return error.code if isinstance(error, InvalidInput) and error.code.startswith("policy.") else "no policy error"
    assert parse_policy(policy.to_toml(), folder) == policy
    try:
        with limited(SECONDS_TO_PLAN):
            plan(policy)
    except CrowdblendError as error:
        check_error(error)
        return f"planned: {error.code}"
    except TooSlowError:
        return "slow"
    return "planned"


def run(seed: int, number: int, folder: Path, seconds: float = 1e9) -> Counter[str]:
    """The outcomes of so many policies; none that fails is lost, since its text is shown."""
    mutator, seen, started = Mutator(seed), Counter[str](), time.monotonic()
    for _ in range(number):
        text = mutator.policy()
        try:
            seen[outcome(text, folder)] += 1
        except Exception:
            print(text)  # noqa: T201  what pytest shows of a failure
            raise
        if time.monotonic() - started > seconds:
            break
    return seen


def test_some_mutated_policies(tmp_path: Path) -> None:
    seen = run(1, ALWAYS, tmp_path)
    assert sum(seen.values()) == ALWAYS
    assert len(seen) >= 20, "the mutations reach many different refusals"
    assert "no policy error" not in seen
    assert seen["planned"] >= ALWAYS // 50, "and some of them are sound"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 21))
def test_twenty_thousand(seed: int, tmp_path: Path) -> None:
    seen = run(seed, EACH, tmp_path)
    assert sum(seen.values()) == EACH
    assert "no policy error" not in seen
