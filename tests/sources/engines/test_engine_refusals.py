"""Data that cannot be released: one sentence that names the remedy and never a value, an id or a count."""

import re
import sys

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from crowdblend.errors import InvalidInput
from crowdblend.methods.designs.draw import Coin, Everybody
from crowdblend.policies.resources import Resources
from crowdblend.sources.engines.choice import count_classes
from crowdblend.trusted.randomness import DrawKey
from tests.cases import for_each
from tests.sources.engines.test_engine import KEY, policy

CANARY = "Kanarienvogel"
NUMBER = 987654321987
ONE = {"sex": '{ values = ["Female", "Male"] }'}
GOOD = "id,sex\n1,Female\n2,Male\n"


def refusal(made, capfd, key=None):
    """The code of the refusal, which is one or two clean sentences with nothing of the data anywhere."""
    with pytest.raises(InvalidInput) as caught:
        count_classes(made, Everybody() if key is None else Coin(DrawKey(key), 1.0))
    message = str(caught.value)
    written = capfd.readouterr()
    for text in (message, repr(caught.value), written.out, written.err):
        assert CANARY not in text
        assert str(NUMBER) not in text
        assert "Error" not in text.removeprefix("InvalidInput")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert "\n" not in message
    assert re.search(r"[a-z)\]']\. [A-Z].*[.\"]$", message), message
    assert caught.value.where
    assert caught.value.remedy
    return caught.value.code


CSV = {
    "empty file": (b"", "data.empty-file"),
    "only blank lines": (b"\n\n", "data.no-header"),
    "header only": (b"id,sex\n", "data.no-rows"),
    "missing column": (b"id,gender\n1,Male\n", "data.missing-column"),
    "missing person": (b"name,sex\n1,Male\n", "data.missing-column"),
    "wrong delimiter": (b"id;sex\n1;Male\n", "data.delimiter"),
    "tabs": (b"id\tsex\n1\tMale\n", "data.delimiter"),
    "duplicate header": (b"id,sex,sex\n1,Male,Male\n", "data.repeated-column"),
    "duplicate header in another case": (b"id,sex,SEX\n1,Male,Male\n", "data.repeated-column"),
    "too few fields": (f"id,sex,x\n1,Male,2\n{NUMBER},{CANARY}\n".encode(), "data.field-count"),
    "too many fields": (f"id,sex\n1,Male\n{NUMBER},Male,{CANARY}\n".encode(), "data.field-count"),
    "open quote": (f'id,sex\n1,"{CANARY}\n2,Male\n'.encode(), "data.open-quote"),
    "not UTF-8": (b"id,sex\n1,Male\n2,M\xe4nnlich " + CANARY.encode() + b"\n", "data.encoding"),
    "not UTF-8 far down": (b"id,sex\n" + b"1,Male\n" * 50_000 + b"2,M\xe4 " + CANARY.encode() + b"\n", "data.encoding"),
    "UTF-16": (GOOD.encode("utf-16"), "data.encoding"),
    "a workbook or zip file": (b"PK\x03\x04" + bytes(range(256)) * 50, "data.workbook"),
    "nobody": (f"id,sex\n,Male\n{NUMBER},Male\n".encode(), "data.missing-person"),
    "blank person": (f'id,sex\n"  ",Male\n{NUMBER},Male\n'.encode(), "data.missing-person"),
    "outside the domain": (f"id,sex\n{NUMBER},{CANARY}\n1,Male\n".encode(), "data.outside-domain"),
    "blank value": (f"id,sex\n{NUMBER},\n1,Male\n".encode(), "data.outside-domain"),
    "twice": (f"id,sex\n{NUMBER},Male\n1,Male\n{NUMBER},Female\n".encode(), "data.repeated-person"),
    "twice, text": (f"id,sex\n{CANARY},Male\n1,Male\n{CANARY},Female\n".encode(), "data.repeated-person"),
    "long header": (b'id,sex,"' + b"x" * 200_000 + b"\n1,Male\n", "data.no-header"),
}


# Rows are looked at differently where some are drawn; what is wrong with the file as a whole is seen before.
OF_ROWS = (
    "too many fields",
    "not UTF-8 far down",
    "nobody",
    "outside the domain",
    "blank value",
    "twice",
    "twice, text",
)


@for_each(("case", "key"), [*((case, None) for case in CSV), *((case, KEY) for case in OF_ROWS)])
def test_csv(tmp_path, capfd, case, key):
    content, code = CSV[case]
    (tmp_path / "people.csv").write_bytes(content)
    assert refusal(policy(tmp_path, ONE, "people.csv"), capfd, key) == code


def write(path, **columns):
    parquet.write_table(pa.table(columns), path)


def test_parquet(tmp_path, capfd):
    path, made = tmp_path / "people.parquet", policy(tmp_path, ONE)
    write(path, id=[NUMBER, 2], sex=["Male", CANARY])
    whole = path.read_bytes()
    assert refusal(made, capfd) == "data.outside-domain"
    for broken in (whole[: len(whole) // 2], whole[:-4], b"PAR1" + whole[50:], b"PAR1PAR1", CANARY.encode()):
        path.write_bytes(broken)
        assert refusal(made, capfd) == "data.unreadable"
    bad = bytearray(whole)
    bad[4 : len(bad) // 3] = b"\xff" * (len(bad) // 3 - 4)
    path.write_bytes(bytes(bad))
    refusal(made, capfd)
    write(path, id=pa.array([], pa.int64()), sex=pa.array([], pa.string()))
    assert refusal(made, capfd) == "data.no-rows"
    write(path, id=pa.array([1, None]), sex=["Male", "Male"])
    assert refusal(made, capfd) == "data.missing-person"
    write(path, id=[1.5, float("nan")], sex=["Male", "Male"])
    assert refusal(made, capfd) == "data.missing-person"
    write(path, id=[1, 2], sex=[["Male"], ["Male"]])
    assert refusal(made, capfd) == "data.nested-column"
    parquet.write_table(pa.Table.from_arrays([pa.array([1])] * 3, names=["id", "sex", "sex"]), path)
    assert refusal(made, capfd) == "data.repeated-column"
    write(path, id=[1, 2], SEX=["Male", "Male"])
    assert refusal(made, capfd) == "data.missing-column"


def test_files_of_a_folder_that_differ(tmp_path, capfd):
    for name, text in (("a.csv", GOOD), ("b.csv", "sex,id\nMale,1\n")):
        (tmp_path / name).write_text(text)
    assert refusal(policy(tmp_path, ONE, ".", 'format = "csv"'), capfd) == "data.different-headers"
    write(tmp_path / "a.parquet", id=[1], sex=["Male"])
    write(tmp_path / "b.parquet", id=[2], gender=[CANARY])
    assert refusal(policy(tmp_path, ONE, ".", 'format = "parquet"'), capfd) == "data.missing-column"


def test_paths(tmp_path, capfd):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.duckdb").write_text(CANARY)
    (tmp_path / "folder.csv").mkdir()
    for source, data, code in (
        ("missing.csv", "", "data.unreadable"),
        ("missing.parquet", "", "data.unreadable"),
        ("missing.duckdb", 'table = "t"', "data.no-file"),
        ("folder", 'format = "csv"', "data.no-files"),
        ("folder.csv", "", "data.no-files"),
        ("folder", 'format = "duckdb"\ntable = "t"', "data.no-file"),
        ("*.parquet", "", "data.no-files"),
        ("file.duckdb", 'table = "t"', "data.database"),
        ("missing.csv/people.csv", "", "data.unreadable"),
        ("https://example.invalid/people.csv", "", "data.remote-source"),
    ):
        assert refusal(policy(tmp_path, ONE, source, data), capfd) == code


def test_a_missing_table(tmp_path, capfd):
    duckdb.connect(str(tmp_path / "people.duckdb")).close()
    assert refusal(policy(tmp_path, ONE, "people.duckdb", 'table = "people"'), capfd) == "data.table"


def test_an_empty_pipe(tmp_path, capfd, monkeypatch):
    (tmp_path / "nothing").touch()
    with (tmp_path / "nothing").open() as piped:
        monkeypatch.setattr(sys, "stdin", piped)
        assert refusal(policy(tmp_path, ONE, "-", 'format = "csv"'), capfd) == "data.empty-file"


@pytest.mark.parametrize(("database", "arrays"), [(10**6, 10**9), (10**9, 10**5)])
def test_too_little_memory(tmp_path, capfd, monkeypatch, database, arrays):
    n = 60_000
    write(tmp_path / "people.parquet", id=range(n), x=range(n))
    made = policy(tmp_path, {"x": "{ from = 0, to = 1000000, width = 1 }"}, release='memory = "1GB"')
    monkeypatch.setattr(Resources, "database_memory", database)
    monkeypatch.setattr(Resources, "array_memory", arrays)
    assert refusal(made, capfd) == "data.memory"


def test_what_is_not_drawn_is_not_looked_at(tmp_path):
    (tmp_path / "people.csv").write_text(f"id,sex\n1,{CANARY}\n2,Male\n")
    made = policy(tmp_path, ONE, "people.csv")
    assert count_classes(made, Coin(DrawKey(KEY), 0.0)).classes.people == 0


def test_an_open_column_says_missing(tmp_path, capfd):
    (tmp_path / "people.csv").write_text(f"id,zip,born\n1,{CANARY},{CANARY}\n2,,2000-01-01\n")
    made = policy(tmp_path, {"zip": "{ prefix = 3 }"}, "people.csv")
    assert refusal(made, capfd) == "data.outside-domain"
    assert refusal(policy(tmp_path, {"born": '{ date = "year" }'}, "people.csv"), capfd) == "data.outside-domain"


def test_the_engine_sees_no_key_and_leaves_nothing_behind(tmp_path, monkeypatch):
    """Everything that is said to the database, and everything that is left in the temporary folder."""
    said, opened = [], duckdb.connect

    class Listening:
        def __init__(self, connection):
            self.connection = connection

        def __getattr__(self, name):
            found = getattr(self.connection, name)
            if not callable(found):
                return found

            def call(*given, **named):
                said.append(repr((given, named)))
                answer = found(*given, **named)
                return Listening(answer) if isinstance(answer, duckdb.DuckDBPyConnection) else answer

            return call

    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setattr(duckdb, "connect", lambda *given, **named: Listening(opened(*given, **named)))
    (tmp_path / "people.csv").write_text(GOOD)
    count_classes(policy(tmp_path, ONE, "people.csv"), Coin(DrawKey(KEY), 0.5))
    assert len(said) > 3
    for form in (KEY.hex(), repr(KEY), str(list(KEY))):
        assert not any(form in text for text in said)
    assert list(temporary.iterdir()) == []
