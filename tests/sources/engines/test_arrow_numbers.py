"""Numbers of NumPy become the arrays that pyarrow would make of them."""

import numpy as np
import pyarrow as pa

from crowdblend.sources.engines.arrow_numbers import arrow_numbers
from tests.cases import for_each


@for_each("kind", [np.int8, np.int32, np.int64, np.uint64, np.float64, np.bool_])
@for_each("rows", [0, 1, 9, 1000])
def test_the_same_array(kind: type[np.generic], rows: int) -> None:
    wide = (np.arange(3 * rows) % 5).astype(kind).reshape(rows, 3)
    for numbers in (wide[:, 1], wide[::-1, 0], wide.ravel()):
        blank = np.arange(len(numbers)) % 3 == 1
        for mask in (None, blank, np.zeros(len(numbers), np.bool_), np.ones(len(numbers), np.bool_)):
            made, expected = arrow_numbers(numbers, mask), pa.array(numbers, mask=mask)
            made.validate(full=True)
            assert made.equals(expected)
            assert (made.type, made.null_count) == (expected.type, expected.null_count)


def test_nothing_is_copied_that_lies_side_by_side() -> None:
    numbers = np.arange(10)
    assert arrow_numbers(numbers).buffers()[1].address == numbers.ctypes.data
