"""Numbers of NumPy as Arrow has them.

`pyarrow.array` would do, but loads numpy.ma to recognize masked arrays, which takes longer than reading a small table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdblend.trusted.machine.packages import pyarrow as pa

# So few rows are done one by one: Arrow's functions take longer to load.
FEW_ROWS = 1 << 13


def arrow_numbers(numbers: NDArray[Any], blank: NDArray[np.bool_] | None = None) -> pa.Array:
    """Numbers as an array, without a copy where they lie side by side; null where blank."""
    if numbers.dtype == np.bool_:  # Arrow packs eight of them into a byte
        return pa.array(numbers, mask=blank)
    there = None
    if blank is not None and blank.any():
        there = pa.py_buffer(np.packbits(~blank, bitorder="little"))
    kept = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(pa.from_numpy_dtype(kept.dtype), len(kept), [there, pa.py_buffer(kept)])
