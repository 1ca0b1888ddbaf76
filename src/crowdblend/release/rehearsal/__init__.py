"""The same release again and again, on made-up people: for the audit, which needs many of them."""

from crowdblend.release.rehearsal.families import FAMILIES, Family
from crowdblend.release.rehearsal.registry import subject_of
from crowdblend.release.rehearsal.rehearsed import Neighbours
from crowdblend.release.rehearsal.stack import Stack
from crowdblend.release.rehearsal.subject import ReleaseSubject
from crowdblend.release.rehearsal.table import Crowd, Population, Rehearsal

__all__ = [
    "FAMILIES",
    "Crowd",
    "Family",
    "Neighbours",
    "Population",
    "Rehearsal",
    "ReleaseSubject",
    "Stack",
    "subject_of",
]
