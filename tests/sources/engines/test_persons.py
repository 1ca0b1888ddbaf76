import numpy as np
import pyarrow as pa

from crowdblend.sources.engines.persons import read_persons
from crowdblend.trusted.randomness import coins, marks
from tests.cases import for_each
from tests.refusals import refuses

KEY = bytes(range(32))
MIXED = ["P00012345-X", "12", "012", "-7", "Ω" * 30, " 5", "x" * 700, str(10**30), "0", "a\0b", "9" * 18, "9" * 19]
COLUMNS = {
    "mixed": MIXED,
    "texts": [f"P{i:08d}-X" for i in range(1000)],
    "numbers": [str(i - 500) for i in range(1000)],
    "one": ["P1"],
    "nobody": [],
}


@for_each("kind", [pa.string(), pa.large_string(), pa.string_view()])
@for_each("name", COLUMNS)
def test_a_column_is_as_a_list(name, kind):
    ids = COLUMNS[name]
    whole = pa.array(["before", *ids, "after"], pa.string()).cast(kind)
    for column in (pa.array(ids, pa.string()).cast(kind), whole[1:-1]):
        persons = read_persons(column, "id")
        assert (persons.marks(KEY) == marks(KEY, ids)).all()
        drawn = persons.drawn(KEY, 0.5)
        assert (drawn == coins(KEY, ids, 0.5)).all()
        assert (persons.at(np.flatnonzero(drawn)).marks(KEY) == marks(KEY, ids)[drawn]).all()
        sampled, kept = persons.sampled_rows(KEY, 0.5)
        assert (sampled == np.flatnonzero(drawn)).all()
        for key in (KEY, bytes(32)):
            assert (kept.marks_of_texts(key) == marks(key, kept.texts)).all()
        nobody = persons.at(np.empty(0, dtype=np.intp))
        assert nobody.marks(KEY).shape == (0, 2)
        assert nobody.drawn(KEY, 0.5).shape == (0,)


def test_numbers_and_their_spellings():
    ids = [0, 5, -5, 10**17, 2**62, -(2**63)]
    number, text = read_persons(pa.array(ids), "id"), read_persons(pa.array([str(i) for i in ids]), "id")
    assert (number.marks(KEY) == text.marks(KEY)).all()


@for_each("blank", [None, "", " ", "\t\n", " \r\v\f "])
@for_each("others", [["P1", "P2"], ["1", "2"], [" 1"], []])
def test_nobody_in_a_row_is_refused(blank, others):
    with refuses("data.missing-person", "column 'id'"):
        read_persons(pa.array([*others, blank], pa.string()), "id")
