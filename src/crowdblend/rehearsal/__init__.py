"""The same release again and again, on made-up people: to know what to expect, and for the audit."""

from crowdblend.rehearsal.families import FAMILIES, Family
from crowdblend.rehearsal.injected_bugs import INJECTED_BUGS, InjectedBug
from crowdblend.rehearsal.made_up_people import Crowd, Population
from crowdblend.rehearsal.subject import AuditSubject, Neighbours, subject_of

__all__ = [
    "FAMILIES",
    "INJECTED_BUGS",
    "AuditSubject",
    "Crowd",
    "Family",
    "InjectedBug",
    "Neighbours",
    "Population",
    "subject_of",
]
