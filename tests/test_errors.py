"""Every error has a code, a place, a message and a remedy, also those that were written as one text."""

import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

import crowdblend
from crowdblend import errors
from crowdblend.cli.output import machine_limits, printable
from crowdblend.errors import CrowdblendError, InvalidInput, Unavailable
from crowdblend.kinds import plan
from crowdblend.policies.load import load_policy, parse_policy
from crowdblend.policies.starter import init_policy
from crowdblend.trusted.guarantees.parameters import check
from tests.cases import for_each

CODE = re.compile(r"[a-z]+(-[a-z]+)*(\.[a-z]+(-[a-z]+)*)*")
# Those that differ from the class above them: a scheduler acts on each in another way.
EXITS = {"RefusedByLedger": 3, "NotReachable": 4, "NoRoom": 5, "Interruption": 130}
CLASSES = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, CrowdblendError)]


@for_each("kind", CLASSES)
def test_every_class_has_its_code_and_exit(kind: type[CrowdblendError]) -> None:
    error = kind("It is wrong. Mend it.")
    assert CODE.fullmatch(error.code)
    assert error.exit_code == EXITS.get(kind.__name__, 1 if issubclass(kind, errors.Refused) else 2)
    assert error.retry == (error.exit_code in (4, 5, 6, 130))
    assert sum(other.usual_code == kind.usual_code for other in CLASSES) == 1
    assert (error.message, error.remedy, str(error)) == ("It is wrong.", "Mend it.", "It is wrong. Mend it.")


def test_an_error_says_what_where_and_what_to_do() -> None:
    error = InvalidInput("a is b.", remedy="Make it c.", where="[data] a", code="policy.a")
    assert str(error) == "a is b. Make it c."
    said = {"code": "policy.a", "where": "[data] a", "message": "a is b.", "remedy": "Make it c."}
    assert error.to_dict() == {**said, "exit_code": 2, "retry": False, "recorded": False, "entry": None}
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)


@for_each("kind", CLASSES)
def test_what_is_recorded_is_resumed_whatever_stopped_it(kind: type[CrowdblendError]) -> None:
    error = kind("It is wrong.")
    error.recorded, error.entry = True, 7
    said = error.to_dict()
    assert (said["recorded"], said["entry"], said["retry"]) == (True, 7, True)
    assert said["exit_code"] == error.exit_code == (130 if kind is errors.Interruption else 6)


def test_a_full_disk_is_told_from_a_missing_permission() -> None:
    for number, kind in ((28, errors.NoRoom), (13, Unavailable)):
        with pytest.raises(Unavailable) as refused, machine_limits():
            raise OSError(number, "refused", "file")
        assert type(refused.value) is kind


def test_one_sentence_has_no_remedy() -> None:
    error = InvalidInput("x is 0.5, say e.g. more")
    assert (error.message, error.remedy, error.to_dict()["remedy"]) == ("x is 0.5, say e.g. more", "", None)


def test_a_parameter_out_of_range_is_named() -> None:
    with pytest.raises(InvalidInput) as refused:
        check("rate", 10**5000)
    assert (refused.value.code, refused.value.where) == ("parameter.range", "rate")
    assert len(str(refused.value)) < 200


def test_what_the_machine_lacks_is_a_sentence() -> None:
    with pytest.raises(Unavailable) as refused, machine_limits():
        raise OSError(28, "No space left on device", "/secret/place/file.parquet")
    assert refused.value.code == "system.file"
    assert "/secret" not in str(refused.value)
    with pytest.raises(Unavailable) as refused, machine_limits():
        raise MemoryError
    assert refused.value.code == "system.memory"


def test_a_message_cannot_steer_a_terminal() -> None:
    assert printable("a\x1b[2K\rverified\n\x9b") == "a\\x1b[2K\\rverified\\n\\x9b"


@for_each(
    ("encoding", "options"),
    [
        *(("ascii", options) for options in (["rules"], ["rules", "suppression.exact"], ["rules", "--json"])),
        *((encoding, ["rules", "suppression.exact"]) for encoding in ("latin-1", "utf-8")),
    ],
)
def test_every_encoding_of_the_terminal_will_do(encoding: str, options: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "crowdblend", *options],
        capture_output=True,
        check=False,
        env={"PYTHONIOENCODING": encoding, "PYTHONPATH": ":".join(sys.path), "PATH": ""},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    if "--json" in options:
        assert json.loads(done.stdout)["rules"]


WRONG_TYPES: dict[str, Callable[[], object]] = {
    "plan": lambda: crowdblend.plan(rate="0.1", k=20, epsilon=1),
    "verify": lambda: crowdblend.verify(5),  # type: ignore[arg-type]
    "verify nothing": lambda: crowdblend.verify(None),  # type: ignore[arg-type]
    "compose": lambda: crowdblend.compose("x", 5),  # type: ignore[arg-type]
    "load": lambda: load_policy(5),  # type: ignore[arg-type]
    "load nothing": lambda: load_policy(None),  # type: ignore[arg-type]
    "load NUL": lambda: load_policy("a\0b"),
    "parse bytes": lambda: parse_policy(b"x"),  # type: ignore[arg-type]
    "init": lambda: init_policy(5),  # type: ignore[arg-type]
    "init NUL": lambda: init_policy("a\0b"),
    "init kind": lambda: init_policy("x.csv", kind=5),  # type: ignore[arg-type]
    "plan a path": lambda: plan("policy.toml"),  # type: ignore[arg-type]
}


@for_each("name", WRONG_TYPES)
def test_wrong_types_are_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        WRONG_TYPES[name]()
    assert refused.value.code in (
        "parameter.range",
        "argument.type",
        "policy.file",
        "init.file",
        "init.kind",
        "certificate.unreadable",
    )
    assert refused.value.remedy
