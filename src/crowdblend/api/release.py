"""`release`: publish rows that Python holds, or files, under a policy."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from crowdblend.api.sources import about, loaded_policy, whole_numbers
from crowdblend.errors import InvalidInput
from crowdblend.ledger import Ledger
from crowdblend.publishing.finished_release import Release
from crowdblend.reading.data_frames import TableForm, frames_of
from crowdblend.sources.engines.choice import check_engine, engine_named, is_spark_frame
from crowdblend.trusted.guarantees.parameters import check_progress, check_type, path_of
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    from crowdblend.policies.policy import Policy
    from crowdblend.publishing import release as publishing
    from crowdblend.publishing import resuming, target
    from crowdblend.sources.engines.engine import Progress

_KEY_BYTES = 32


class DefaultLedger:
    """The default of `ledger`: the user's own, or the one that CROWDBLEND_LEDGER names."""

    def __repr__(self) -> str:
        return "the user's own"


DEFAULT_LEDGER: Final = DefaultLedger()


def release(
    data: object,
    policy: Policy | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    ledger: Ledger | str | os.PathLike[str] | DefaultLedger | None = DEFAULT_LEDGER,
    engine: str | None = None,
    key: bytes | None = None,
    force: bool = False,
    progress: Progress | None = None,
    figures: bool = True,
    new: bool = False,
) -> Release:
    """Publish what the `policy` says of the data, and return what was published with its certificate.

    `data` is a pandas, Polars or Spark DataFrame, an Arrow table or reader, a DuckDB relation, a networkx graph where
    the policy is about one, or the path of files; None takes the source that the policy names. Frames are read in
    place; a reader that can be read only once goes into a private temporary file first.

    `engine` is "duckdb" or "spark"; without one, a Spark DataFrame is read by Spark and everything else by DuckDB.
    Spark takes the active session, or starts one. The same key gives the same data on both.

    The folder `out` appears whole or not at all, with `force` in the place of another one; without `out` the release is
    kept in memory, and `save` writes it. The `ledger` records the release before anything is computed: the user's own
    unless another is named. `ledger=None` records nothing, and the certificate then says that nobody compared the
    sample with earlier ones.

    The same job twice is one release: where an earlier one of this policy, these data and this `out` was recorded and
    stopped, it is resumed with the output that it would have had, and nothing more is spent. With `new` another release
    begins.

    `key`, 32 secret bytes, makes the release reproducible for anyone who holds it; use it for one release only. Without
    `figures` the report has tables and sentences alone. `progress` is called with the name of a phase and the rows read
    so far.
    """
    chosen = _engine_for(data, engine)
    _check_key(key)
    check_progress(progress)
    folder = None if out is None else path_of("out", out)
    books = _open_ledger(ledger)
    policy = loaded_policy(policy)
    with about(data, policy, chosen) as here, engine_named(chosen) as reads:
        publish = partial(
            publishing.release, here, ledger=books, key=key, progress=progress, engine=reads, figures=figures, new=new
        )
        if folder is None:
            done = _in_memory(lambda folder: publish(folder, in_memory=True))
        else:
            done = publish(folder, force=force)
        return replace(done, form=TableForm(frames_of(data), whole_numbers(here)))


def resume(
    entry: int,
    data: object,
    policy: Policy | str | os.PathLike[str],
    *,
    ledger: Ledger | str | os.PathLike[str] | DefaultLedger = DEFAULT_LEDGER,
    engine: str | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
    figures: bool = True,
) -> Release:
    """Publish a release that was begun and stopped, with the output that it would have had.

    `entry` is its number in the `ledger`, the user's own unless another is named. `data`, `policy` and `engine` are
    those that it was begun with; others are refused, since they would give a second output of one sample. It appears
    where it was to appear, in its folder or in memory, or in the folder `out`. `force` replaces another folder there.
    Without `figures` the report has tables and sentences alone. `progress` is called with the name of a phase and the
    rows read so far.
    """
    check_type("entry", entry, int, "the number of a release in the ledger")
    check_progress(progress)
    chosen = _engine_for(data, engine)
    books = _open_ledger(ledger)
    if books is None:
        message = "A release is resumed from the ledger that recorded it."
        raise InvalidInput(message, remedy="Name that ledger.", where="ledger", code="ledger.type")
    with about(data, loaded_policy(policy), chosen) as here, engine_named(chosen) as reads:
        if books.entry(entry).spending.folder != target.IN_MEMORY:
            folder = None if out is None else path_of("out", out)
            again = partial(resuming.resume, books, entry, here, progress=progress, engine=reads)
            return again(out=folder, force=force, figures=figures)
        again = partial(resuming.resume_in_memory, books, entry, here, progress=progress, engine=reads)
        done = _in_memory(lambda folder: again(folder, figures=figures))
        return done if out is None else replace(done, folder=done.save(out, force=force), files=None)


def _in_memory(publish: Callable[[Path], Release]) -> Release:
    """Return a release that is published into a private folder, taken from there and removed.

    The transaction is that of a folder: the ledger records the release, then it is computed. If the process dies before
    the ledger has it as finished, `resume` computes it again; if it dies afterwards, the sample is spent and nobody has
    seen the output.
    """
    with tempfile.TemporaryDirectory(prefix="crowdblend-", ignore_cleanup_errors=True) as parent:
        return publish(Path(parent) / "release").in_memory()


def _engine_for(data: object, engine: str | None) -> str:
    """Return the engine that is named, or the one that reads such data."""
    if engine is None:
        return "spark" if is_spark_frame(data) else "duckdb"
    check_engine(engine)
    return engine


def _check_key(key: bytes | None) -> None:
    if key is not None and not (isinstance(key, bytes) and len(key) == _KEY_BYTES):
        message = f"key takes {_KEY_BYTES} bytes."
        remedy = f"Leave it out, or pass secrets.token_bytes({_KEY_BYTES})."
        raise InvalidInput(message, remedy=remedy, where="key", code="key.length")


def _open_ledger(ledger: Ledger | str | os.PathLike[str] | DefaultLedger | None) -> Ledger | None:
    """Return the ledger that a release is recorded in; None only where None was written out."""
    if ledger is None or isinstance(ledger, Ledger):
        return ledger
    if isinstance(ledger, DefaultLedger):
        return Ledger()
    if isinstance(ledger, str | os.PathLike):
        return Ledger(ledger)
    message = f"ledger takes a Ledger, a path or a URL, got {type(ledger).__name__}."
    remedy = "Leave it out for your own ledger; None records nothing."
    raise InvalidInput(message, remedy=remedy, where="ledger", code="ledger.type")
