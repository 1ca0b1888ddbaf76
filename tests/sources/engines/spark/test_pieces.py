"""Pieces come together by bucket, and what does not fit the driver is refused; no session is needed."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from crowdblend.methods.designs.draw import Exactly
from crowdblend.policies.load import parse_policy
from crowdblend.sources.engines.array_memory import ArrayMemory
from crowdblend.sources.engines.packing import Packing
from crowdblend.sources.engines.persons import read_persons
from crowdblend.sources.engines.refusals import outside_domain
from crowdblend.sources.engines.spark import class_counts, source
from crowdblend.sources.engines.spark import rows as task_rows
from crowdblend.sources.engines.spark.pieces import (
    Facts,
    Piece,
    batches_of,
    bucket_of,
    class_table,
    count_pieces,
    decode,
    encode,
    packed_codes,
    pieces_of,
    split,
)
from crowdblend.sources.engines.spark.relation import SparkRelation
from crowdblend.sources.engines.spark.tasks import Merge
from crowdblend.trusted.randomness import DrawKey
from tests.refusals import refuses
from tests.sources.engines.spark.test_layouts import policy


def run(task, pieces):
    ordered = sorted(pieces, key=lambda piece: piece.bucket)
    return list(pieces_of(task(batches_of(ordered))))


def facts_of(pieces):
    facts = Facts()
    for piece in pieces:
        if piece.kind == "facts":
            facts.take(piece.content)
    return facts


def test_every_place_is_in_one_bucket():
    numbers = np.arange(-5_000, 5_000)
    found = dict(split(bucket_of(numbers)))
    assert sorted(np.concatenate(list(found.values())).tolist()) == list(range(10_000))
    assert all((bucket_of(numbers[places]) == bucket).all() for bucket, places in found.items())
    assert len(found) > 1_000
    assert list(split(bucket_of(np.empty(0, np.int64)))) == []


@pytest.mark.parametrize("kind", ["numbers", "texts"])
def test_the_same_person_in_two_pieces_is_found(kind):
    words = np.array([[1, 2], [1, 3], [4, 2]], np.int64)
    one = [Piece(3, kind, words[:2].tobytes()), Piece(3, kind, words[2:].tobytes()), Facts({"read": 3}).piece()]
    if kind == "texts":
        assert facts_of(run(Merge(10), one)).counts == {"read": 3, "repeated": 0}
    again = [*one, Piece(3, kind, words[1:2].tobytes())]
    assert facts_of(run(Merge(10), again)).counts["repeated"] == 1


@pytest.mark.parametrize("enough", [1, 50, 1 << 20])
def test_a_person_goes_to_one_bucket_from_whichever_task_and_nobody_is_lost(enough, monkeypatch):
    """Numbers and texts, noted some at a time by two tasks in different orders."""
    monkeypatch.setattr(task_rows, "_ENOUGH", enough)
    numbers, texts = list(range(-300, 300, 7)), [f"person {number}" for number in range(200)]
    found = []
    for order in (1, -1):
        rows = task_rows.TaskRows.__new__(task_rows.TaskRows)
        rows.row_key, rows.memory = bytes(32), ArrayMemory()
        rows.begin()
        pieces: list[Piece] = []
        for start in range(0, 200, 40):
            each = [pa.array(some[::order][start : start + 40]) for some in (numbers, texts)]
            batches = [(None, read_persons(some, "id")) for some in each if len(some)]
            monkeypatch.setattr(rows, "sampled_rows", lambda selected, batches=batches: iter(batches))
            assert len(list(rows.once("1"))) == len(batches)
            pieces += rows.noted_persons()
        pieces += rows.noted_persons(last=True)
        assert list(rows.noted_persons(last=True)) == []
        buckets = {}
        for piece in pieces:
            width = 8 if piece.kind == "numbers" else 16
            for at in range(0, len(piece.content), width):
                person = (piece.kind, piece.content[at : at + width])
                assert person not in buckets, "handed over once"
                buckets[person] = piece.bucket
        assert sum(kind == "numbers" for kind, _ in buckets) == len(numbers)
        assert sum(kind == "texts" for kind, _ in buckets) == len(texts)
        assert len(set(buckets.values())) > 100
        found.append(buckets)
    assert found[0] == found[1]


def test_labels_mean_the_same_in_every_task(tmp_path):
    columns = policy(tmp_path, "people.parquet").columns
    first, second = Packing(columns), Packing(columns)
    labels = pa.table({"p0": [0, 11 * first.places[1].weight], "l2": ["ab", "cd"]})
    codes, others = packed_codes(first, labels), packed_codes(second, labels.take([1, 0]))
    assert codes[0].tolist() != others[0][::-1].tolist()  # the numbers of the labels
    assert class_table(second, packed_codes(second, labels)).to_pydict() == labels.to_pydict()
    pieces = [*count_pieces(first, codes, np.array([5, 6])), *count_pieces(second, others, np.array([8, 7]))]
    summed = decode(piece.content for piece in run(Merge(100), pieces) if piece.kind == "classes")
    assert sorted(zip(summed["l2"].to_pylist(), summed["n"].to_pylist(), strict=True)) == [("ab", 12), ("cd", 14)]


def test_too_many_classes_are_not_handed_to_the_driver(tmp_path):
    text = (
        '[data]\nsource = "x.parquet"\nperson = "id"\n[sampling]\ndesign = "poisson"\nrate = 0.5\n[columns]\n'
        "age = { from = 0, to = 1000000, width = 1 }\n"
        '[privacy]\nepsilon = 1.0\ndelta = 1e-6\n[[publish]]\nkind = "table"\n'
    )
    packing = Packing(parse_policy(text, tmp_path).columns)
    pieces = list(count_pieces(packing, (np.arange(500_000),), np.ones(500_000, np.int64)))
    found = run(Merge(1_000), pieces)
    assert facts_of(found).problem.code == "data.memory"
    assert "1,000" in facts_of(found).problem.message
    assert sum(decode([piece.content]).num_rows for piece in found if piece.kind == "classes") == 0


def test_of_several_problems_the_same_one_counts():
    problems = [outside_domain(name, "Widen it.") for name in ("b", "a", "c")]
    for order in (problems, problems[::-1]):
        facts = Facts()
        for problem in order:
            facts.refuse(problem)
        assert facts.problem.where == "column 'a'"


def test_fewer_people_than_are_to_be_drawn_are_not_looked_for(monkeypatch, tmp_path):
    facts = Facts()
    facts.add("read", 3)
    monkeypatch.setattr(class_counts, "merge", lambda *_, **__: (facts, []))
    data = policy(tmp_path, "people.parquet", person="rows_are_people = true").data
    relation = SparkRelation(None, data, (), rows=3)
    with refuses("data.people", "[sampling] of"):
        class_counts._last_mark(relation, Exactly(DrawKey(bytes(32)), 5, 9), None)
    with refuses("data.missing-rows"):
        class_counts.check_rows(replace(relation, rows=4), facts)


def test_files_of_unknown_size_begin_where_the_one_before_ends(monkeypatch, tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    for file in (first, second):
        file.touch()
    facts = Facts({f"rows of {second}": 3, f"rows of {first}": 4})
    monkeypatch.setattr(class_counts, "merge", lambda *_: (facts, []))
    relation = SparkRelation(
        None, policy(tmp_path, "people.csv", person="rows_are_people = true").data, (), files=(first, second)
    )
    counted = class_counts._with_sizes(relation)
    starts = {share.files: share.first for share in counted.shares(counted.opening((), placed=True))}
    assert starts == {(first,): 0, (second,): 4}


def test_rows_of_links_beyond_the_memory_are_not_held(monkeypatch):
    rows = [Piece(bucket, "rows", encode(pa.table({"c0": [bucket]}))) for bucket in (1, 2)]
    handed_over = pa.Table.from_batches(batches_of([*rows, Facts({"read": 2}).piece()]))
    monkeypatch.setattr(source, "collect", lambda *_: handed_over)
    nothing = SimpleNamespace(fields=())
    relation = SimpleNamespace(
        opening=lambda _: nothing, frame=None, map_tasks=lambda *_: None, check_rows=lambda read: read
    )
    need = sum(len(piece.content) for piece in rows)
    assert source.rows_of(relation, ["c0"], memory=ArrayMemory(need))[0].column("c0").to_pylist() == [1, 2]
    with refuses("data.memory"):
        source.rows_of(relation, ["c0"], memory=ArrayMemory(need - 1))
