"""A function in a process of its own: results and errors come back, and memory and time have an end."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from crowdblend.errors import DoesNotVerify, Infeasible, Unavailable
from crowdblend.trusted.machine.limited_process import call
from tests.limited_functions import Pair

pytestmark = pytest.mark.usefixtures("importable")
MB = 1 << 20
LIMITS_MEMORY = sys.platform == "linux"


@pytest.fixture(scope="module")
def importable() -> Any:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
        yield


def asked(name: str, result: Any = None, /, seconds: float = 30, largest: int = MB, **arguments: object) -> Any:
    function = f"tests.limited_functions:{name}"
    return call(function, arguments, result=result, memory=1024 * MB, seconds=seconds, largest=largest)


def test_result_comes_back_as_its_type_whatever_is_printed_meanwhile() -> None:
    assert asked("pair", Pair, name="é", numbers=[1, 2]) == Pair("é", (1, 2))


def test_errors_come_back_with_all_their_parts() -> None:
    with pytest.raises(DoesNotVerify) as refused:
        asked("refuse", where="data.csv")
    assert refused.value.to_dict() == {
        "code": "file-edited",
        "where": "data.csv",
        "message": "It was edited.",
        "remedy": "Ask for the original.",
        "exit_code": 1,
        "retry": False,
        "recorded": False,
        "entry": None,
    }
    with pytest.raises(Infeasible, match="Nothing fits"):
        asked("refuse_in_a_way_of_its_own")


def test_unforeseen_errors_show_no_record() -> None:
    with pytest.raises(RuntimeError) as unforeseen:
        asked("fail_with_a_record")
    assert str(unforeseen.value) == "KeyError"


@pytest.mark.skipif(not LIMITS_MEMORY, reason="this system limits no memory of processes")
@pytest.mark.parametrize("make", ["make_bytes", "make_arrow_memory"])
def test_memory_has_an_end(make: str) -> None:
    assert asked(make, int, size=200 * MB) == 200 * MB
    with pytest.raises(Unavailable, match="more than 1,024 MB") as refused:
        asked(make, int, size=1200 * MB)
    assert refused.value.code == "reading.memory"


def test_time_has_an_end_and_nothing_goes_on_after_it() -> None:
    begun = time.monotonic()
    for name in ("sleep", "work"):
        with pytest.raises(Unavailable) as refused:
            asked(name, seconds=2.5)
        assert refused.value.code == "reading.time"
    assert time.monotonic() - begun < 20


def test_process_that_ends_without_an_answer_is_said_to_take_too_much() -> None:
    with pytest.raises(Unavailable) as refused:
        asked("end", code=0)
    assert refused.value.code == "reading.memory"


def test_answer_has_a_largest_size() -> None:
    assert len(asked("long_text", str, size=MB - 100)) == MB - 100
    with pytest.raises(Unavailable):
        asked("long_text", str, size=MB)


def test_caller_keeps_its_own_memory() -> None:
    if sys.platform == "win32":
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA), resource.getrlimit(resource.RLIMIT_CPU)
    asked("pair", Pair, name="a", numbers=[])
    assert (resource.getrlimit(resource.RLIMIT_DATA), resource.getrlimit(resource.RLIMIT_CPU)) == before


def test_module_in_the_working_folder_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "msgspec.py").write_text("import os; os._exit(3)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert asked("pair", Pair, name="a", numbers=[]).name == "a"
    assert os.getcwd() == str(tmp_path)
