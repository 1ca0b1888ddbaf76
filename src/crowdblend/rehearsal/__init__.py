"""The same release again and again, on made-up people: to know what to expect, and for the audit."""

from crowdblend.rehearsal.made_up_people import Crowd, Population
from crowdblend.rehearsal.subject import AuditSubject, Neighbours, subject_of

__all__ = ["AuditSubject", "Crowd", "Neighbours", "Population", "subject_of"]
