"""The policy about the data that were passed: files by their name, rows that Python holds as a frame."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crowdblend.errors import InvalidInput
from crowdblend.policies import files
from crowdblend.policies.load import load_policy
from crowdblend.policies.policy import Policy
from crowdblend.policies.source import ADDRESS, DataSource, is_sqlite
from crowdblend.sources.engines.choice import is_spark_frame
from crowdblend.sources.engines.refusals import refusal
from crowdblend.trusted.guarantees.parameters import check_type
from crowdblend.trusted.machine.lazy import lazy_imports

with lazy_imports():
    import pyarrow as pa

    from crowdblend.kinds.graph import network
    from crowdblend.kinds.programme import plan as programme_plan
    from crowdblend.policies.publication_policy import PublicationPolicy
    from crowdblend.sources.engines import frames


def loaded_policy(policy: Policy | str | os.PathLike[str]) -> Policy:
    """Return the policy itself, or that of a file."""
    if isinstance(policy, str | os.PathLike):
        return load_policy(os.fspath(policy))
    check_type("policy", policy, Policy, "a policy, such as Policy(…), or the path of one")
    return policy


def publication_of(policy: Policy | str | os.PathLike[str], name: str | None) -> PublicationPolicy:
    """Return the one publication of a policy, or the named one of a programme with the parameters planned for it."""
    loaded = loaded_policy(policy)
    names = [one.name for one in loaded.publish]
    if name is None and not loaded.is_programme:
        return loaded.only
    if name not in names:
        raise InvalidInput(
            f"The policy has no publication {str(name)[:60]!r}."
            if name is not None
            else "The policy has several publications, and one is looked at at a time.",
            remedy=f"Name one of {', '.join(map(str, names))}."
            if loaded.is_programme
            else "Leave it out: the policy has one publication.",
            where="publication",
            code="policy.publication",
        )
    if not loaded.is_programme:
        return loaded.only
    return next(one.alone() for one in programme_plan.plan(loaded).planned if one.name == name)


@contextmanager
def about(data: object, policy: Policy, engine: str) -> Iterator[Policy]:
    """Yield the policy about these data, as long as the context lasts; with None about its own source."""
    if data is None:
        yield policy
    elif isinstance(data, str | os.PathLike):
        yield _about_files(os.fspath(data), policy)
    elif engine == "spark":
        if not is_spark_frame(data):
            message = f"The Spark engine reads no data of the type {type(data).__name__}."
            raise refusal("type", message, "Pass a Spark DataFrame or a path, or leave out engine.", "data")
        yield policy.with_source(DataSource(source="The Spark DataFrame", format="frame", frame=data))
    else:
        with frames.opened_frame(_links(data, policy)) as frame:
            yield policy.with_source(DataSource(source=frame.name, format="frame", frame=frame))


def whole_numbers(policy: Policy) -> frozenset[str]:
    """Return the columns of a frame that hold whole numbers; none of data that are no frame of this process."""
    columns = getattr(policy.parts[0].data.frame, "columns", None)
    if not isinstance(columns, Mapping):
        return frozenset()
    return frozenset(name for name, column in columns.items() if pa.types.is_integer(column.type))


def _about_files(source: object, policy: Policy) -> Policy:
    if not isinstance(source, str):
        raise refusal("type", "The path of the data is bytes.", "Pass it as text or Path.", "data")
    named = files.format_of(source) or ADDRESS.match(source) or is_sqlite(source)
    return policy.replace(source=source, source_format=None if named else policy.source_format or _format_held(source))


def _format_held(source: str) -> str | None:
    """Return the format of the files in a folder, or of those that a pattern matches, where they have one."""
    path = Path(source)
    found = files.folder_files(path) if path.is_dir() else files.pattern_files(source)
    formats = {files.format_of(file.name) for file in found} & set(files.ENDINGS)
    return formats.pop() if len(formats) == 1 else None


def _links(data: object, policy: Policy) -> object:
    """Return the links of a networkx graph as a table, where the policy is about one; other data as they are."""
    publication: Any = policy.publish[0]
    if not publication.rows_are_links or not all(hasattr(data, name) for name in ("nodes", "edges", "is_directed")):
        return data
    return network.links_of(data, publication.graph)
