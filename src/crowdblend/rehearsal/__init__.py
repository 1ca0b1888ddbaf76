"""The same release again and again, on made-up people: to know what to expect, and for the audit."""

from crowdblend.rehearsal.crowd_classes import ReleaseSubject
from crowdblend.rehearsal.families import FAMILIES, Family
from crowdblend.rehearsal.made_up_people import Crowd, Population, Rehearsal
from crowdblend.rehearsal.planted import PLANTED, Planted
from crowdblend.rehearsal.registry import subject_of
from crowdblend.rehearsal.rehearsed import Neighbours
from crowdblend.rehearsal.stack import Stack

__all__ = [
    "FAMILIES",
    "PLANTED",
    "Crowd",
    "Family",
    "Neighbours",
    "Planted",
    "Population",
    "Rehearsal",
    "ReleaseSubject",
    "Stack",
    "subject_of",
]
