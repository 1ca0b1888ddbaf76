"""The keys of a policy: what each may hold, and how they are read."""

from crowdblend.release.keys.declared import (
    COLUMN_KINDS,
    DATA,
    KINDS,
    PARTS,
    RECODING,
    RELEASE,
    SAMPLING,
    SECTIONS,
    SYNOPSIS,
    TABLES,
)
from crowdblend.release.keys.read import (
    PLACEHOLDER,
    Key,
    Kind,
    Table,
    did_you_mean,
    naming,
    read_keys,
    refuse_placeholder,
    shown,
)

__all__ = [
    "COLUMN_KINDS",
    "DATA",
    "KINDS",
    "PARTS",
    "PLACEHOLDER",
    "RECODING",
    "RELEASE",
    "SAMPLING",
    "SECTIONS",
    "SYNOPSIS",
    "TABLES",
    "Key",
    "Kind",
    "Table",
    "did_you_mean",
    "naming",
    "read_keys",
    "refuse_placeholder",
    "shown",
]
