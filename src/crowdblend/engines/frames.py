"""Rows that Python holds: Arrow columns by name, and a name for exactly these rows.

Every frame becomes Arrow columns without a copy where the library allows one. A column whose values have no meaning of
their own, such as an interval or a duration, is kept out: it is refused when a policy names it, and ignored otherwise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdblend.engines.refusals import at_column, refusal
from crowdblend.lazy import lazy

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import compute
else:
    pa = lazy("pyarrow")
    compute = lazy("pyarrow.compute")

# Rows whose bytes are hashed at once, counted from the first row: how the rows are chunked makes no difference.
_WINDOW = 1 << 18
_EXTENSIONS = ("arrow.uuid", "arrow.json", "arrow.bool8")


@dataclass(frozen=True, eq=False)
class Frame:
    """The columns of a frame that can be read, the types of the others, and how many rows there are."""

    name: str
    """What the frame is called in messages."""
    columns: Mapping[str, Any] = field(repr=False)
    unreadable: Mapping[str, str] = field(repr=False)
    rows: int = field(repr=False)

    @cached_property
    def table(self) -> Any:
        """The columns as an Arrow table, named c0, c1 and so on, in their order."""
        return pa.table(list(self.columns.values()), names=[f"c{place}" for place in range(len(self.columns))])

    def check(self, wanted: str) -> None:
        """Refuse to read a column that cannot be read."""
        if wanted in self.unreadable:
            raise refusal(
                "column-type",
                f"{self.name} has {self.unreadable[wanted]} in column {wanted!r}.",
                "Convert it to text, numbers or dates.",
                at_column(wanted),
            )

    def check_every(self) -> None:
        """Refuse a frame of which some column cannot be read, where rows are known by all their columns."""
        for name in self.unreadable:
            self.check(name)

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of names, types and values in their order, however they are chunked or dictionary-encoded."""
        state = hashlib.sha256()
        for name, column in self.columns.items():
            label = name.encode("utf-8", "surrogatepass")
            state.update(len(label).to_bytes(8, "little") + label)
            for content in _contents(column):
                state.update(content)
        return state.digest()


def frame_of(name: str, columns: Iterator[tuple[str, Any]], rows: int) -> Frame:
    """A frame of Arrow columns, where a text stands for a column that Arrow cannot hold and says what it is."""
    readable: dict[str, Any] = {}
    unreadable: dict[str, str] = {}
    for column, values in columns:
        if column in readable or column in unreadable:
            raise refusal(
                "repeated-column", f"{name} has two columns called {column!r}.", "Rename one.", at_column(column)
            )
        if isinstance(values, str):
            unreadable[column] = values
            continue
        try:
            converted = _converted(values)
        except pa.ArrowException:
            converted = None
        if converted is None:
            unreadable[column] = f"values of the type {values.type}, which no policy can recode"
        else:
            readable[column] = converted
    return Frame(name, readable, unreadable, rows)


def _converted(values: Any) -> Any:
    """The column in a type that the database reads, or None."""
    kind = values.type
    if pa.types.is_float16(kind):
        return values.cast(pa.float32())
    if pa.types.is_null(kind):
        return values.cast(pa.string())
    if pa.types.is_decimal256(kind):
        return values.cast(pa.decimal128(38, kind.scale)) if 0 <= kind.scale <= 38 else None
    if pa.types.is_dictionary(kind) and _is_converted(kind.value_type):
        return _converted(values.cast(kind.value_type))
    return values if is_readable(kind) else None


def _is_converted(kind: Any) -> bool:
    """Whether values of this type are converted before the database reads them."""
    return bool(pa.types.is_null(kind) or pa.types.is_float16(kind) or pa.types.is_decimal256(kind))


def is_readable(kind: Any) -> bool:
    """Whether the database reads values of this type as what they are."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return kind.extension_name in _EXTENSIONS
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return is_readable(kind.value_type) and not types.is_nested(kind.value_type)
    if types.is_nested(kind):
        inside = [kind.field(place).type for place in range(kind.num_fields)]
        return not types.is_union(kind) and all(map(is_readable, inside))
    if types.is_duration(kind) or types.is_interval(kind) or _is_converted(kind):
        return False
    return bool(types.is_primitive(kind) or types.is_decimal(kind) or _is_text(kind))


def _is_text(kind: Any) -> bool:
    types = pa.types
    texts = (types.is_string, types.is_large_string, types.is_string_view)
    bytes_ = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)
    return any(is_one(kind) for is_one in (*texts, *bytes_))


def _contents(column: Any) -> Iterator[Any]:
    """The bytes that say what a column holds: its type, then window by window which values are there, and these."""
    kind = column.type
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    text = _is_text(kind) and not pa.types.is_fixed_size_binary(kind)
    if text:
        kind = pa.large_binary()
    yield f"{kind}\n{len(column)}\n".encode()
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    for start in range(0, len(column), _WINDOW):
        window = _window(chunked.slice(start, _WINDOW), kind)
        if window.null_count:
            yield b"\1" + _plain(window.is_valid().cast(pa.uint8()))
        yield from _texts(window) if text else _values(window)


def _window(chunked: Any, kind: Any) -> Any:
    """Some rows in one piece, as plain values of that type."""

    def plain(chunk: Any) -> Any:
        if pa.types.is_run_end_encoded(chunk.type):
            chunk = compute.run_end_decode(chunk)
        return chunk if chunk.type == kind else chunk.cast(kind)

    pieces = [plain(chunk) for chunk in chunked.chunks if len(chunk)]
    return pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces)


def _texts(window: Any) -> Iterator[Any]:
    window = _present(window)
    _, offsets, data = window.buffers()
    if not len(window):
        return
    edges = np.frombuffer(offsets, dtype=np.int64)[window.offset : window.offset + len(window) + 1]
    yield np.diff(edges)
    yield memoryview(b"" if data is None else data)[edges[0] : edges[-1]]


def _values(window: Any) -> Iterator[Any]:
    if isinstance(window.type, pa.BaseExtensionType):
        window = window.storage
    if pa.types.is_boolean(window.type):
        window = window.cast(pa.uint8())
    if not pa.types.is_nested(window.type) and not pa.types.is_string(window.type):
        yield _plain(_present(window))
        return
    batch = pa.record_batch([window], names=["c"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    yield sink.getvalue()


def _present(window: Any) -> Any:
    """Those values that are not missing: what lies under a missing one is arbitrary."""
    return window.drop_null() if window.null_count else window


def _plain(window: Any) -> memoryview:
    """The bytes of values of a fixed width, none of which is missing."""
    data, width = window.buffers()[1], window.type.bit_width // 8
    held = memoryview(b"" if data is None else data)
    return held[window.offset * width : (window.offset + len(window)) * width]
