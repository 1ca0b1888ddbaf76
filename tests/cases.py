"""Many cases of one law in one test: collected and reported once, and a failure names its case."""

import functools
import inspect
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

import pytest

Test = Callable[..., None]


# Whether every case is tried; conftest.py sets it for the long suites.
THOROUGH = False


def for_each(
    names: str | tuple[str, ...], values: Iterable[Any] | Callable[[], Iterable[Any]], *, daily: int | None = None
) -> Callable[[Test], Test]:
    """Run a test for every case, as `pytest.mark.parametrize` does, but as one test; cases may be listed by a function.

    Of cases about one law it is enough to try some every day: `daily` of them, evenly spread, the first among them. The
    long suites try all. Every case has a `tmp_path` and a `monkeypatch` of its own. Other fixtures are shared, so they
    must not change.
    """
    keys = (names,) if isinstance(names, str) else names

    def decorate(test: Test) -> Test:
        listed = list(values) if isinstance(values, Iterable) else values
        signature = inspect.signature(test)

        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            cases = listed if isinstance(listed, list) else list(listed())
            assert cases, "no cases"
            if daily is not None and not THOROUGH:
                assert daily < len(cases), "all of them are tried"
                cases = spread(cases, daily)
            assert not any(isinstance(case, type(pytest.param())) for case in cases), "only parametrize knows marks"
            for number, value in enumerate(cases):
                case = dict(zip(keys, (value,) if isinstance(names, str) else value, strict=True))
                with ExitStack() as stack:
                    try:
                        test(**_renewed(fixtures, number, stack), **case)
                    except BaseException as error:
                        error.add_note(
                            f"case {number}: " + ", ".join(f"{key} = {part!r}" for key, part in case.items())
                        )
                        raise

        kept = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        if isinstance(listed, list):
            run.cases = len(listed) * getattr(test, "cases", 1)  # type: ignore[attr-defined]
            run.daily_cases = (daily or len(listed)) * getattr(test, "daily_cases", 1)  # type: ignore[attr-defined]
        run.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return run

    return decorate


def seeds(daily: int, many: int, step: int) -> pytest.MarkDecorator:
    """Run a test over the first seeds every day, and in the long suites over the others too, so many at a time."""
    others = (range(first, min(first + step, many)) for first in range(daily, many, step))
    return pytest.mark.parametrize(
        "seeds", [range(daily), *(pytest.param(one, marks=pytest.mark.slow) for one in others)], ids=str
    )


def some_daily(cases: Iterable[Any], number: int) -> list[Any]:
    """Return cases for `parametrize`: a number of them, evenly spread, every day, and all in the long suites."""
    listed = list(cases)
    daily = spread(listed, number)
    values = [case if isinstance(case, tuple) else (case,) for case in listed]
    return [
        pytest.param(*value, marks=() if case in daily else pytest.mark.slow)
        for case, value in zip(listed, values, strict=True)
    ]


def spread(cases: list[Any], number: int) -> list[Any]:
    """Return a number of cases, evenly spread, the first among them."""
    return [cases[place * len(cases) // number] for place in range(number)]


def _renewed(fixtures: dict[str, Any], number: int, stack: ExitStack) -> dict[str, Any]:
    own = dict(fixtures)
    if "tmp_path" in own:
        own["tmp_path"] = own["tmp_path"] / str(number)
        own["tmp_path"].mkdir()
    if "monkeypatch" in own:
        own["monkeypatch"] = stack.enter_context(own["monkeypatch"].context())
    return own
