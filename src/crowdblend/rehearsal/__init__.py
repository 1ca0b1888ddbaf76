"""The same release again and again, on made-up people: for the audit, which needs many of them."""

from crowdblend.rehearsal.families import FAMILIES, Family
from crowdblend.rehearsal.registry import subject_of
from crowdblend.rehearsal.rehearsed import Neighbours
from crowdblend.rehearsal.stack import Stack
from crowdblend.rehearsal.subject import ReleaseSubject
from crowdblend.rehearsal.table import Crowd, Population, Rehearsal

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
