"""Every guard of facts refuses a forgery that would be accepted without it: none is missing, none is for nothing."""

from collections import defaultdict
from collections.abc import Mapping

import pytest

from crowdblend.errors import DoesNotVerify
from tests.publishing.forged_facts import FORGERIES, base
from tests.publishing.forgeries import Document, Guard, files_of_facts, forged, guards_in, refused_by, without

Refusals = Mapping[tuple[str, int], list[Document]]
GUARDS = [guard for file in files_of_facts() for guard in guards_in(file)]
# What is refused without them too, by an error that says less, or later; most are there for the type checker.
REFUSED_ANYWAY = {
    ("kinds/statistics/facts.py", "labels is None"),
    ("kinds/statistics/facts.py", "math.prod((len(self.labels(name)) for name in names)) > MOST_BINS"),
    ("kinds/programme/facts.py", "isinstance(found[name], ProgrammeFacts)"),
    ("kinds/programme/facts.py", "share is None"),
    ("kinds/shared/facts.py", "sample is None"),
}


@pytest.fixture(scope="module")
def refusals() -> Refusals:
    """The forgeries that each line refuses; each of them is of facts that are accepted."""
    found: dict[tuple[str, int], list[Document]] = defaultdict(list)
    for name in dict(FORGERIES):
        assert refused_by(base(name)) is None, name
    for name, edit in FORGERIES:
        document = forged(base(name), edit)
        where = refused_by(document)
        assert where is not None, f"{name}: a forgery is accepted"
        found[where].append(document)
    return found


@pytest.mark.parametrize("file", files_of_facts())
def test_every_guard_refuses_what_would_be_accepted_without_it(file: str, refusals: Refusals) -> None:
    """Or what would end in an error that is none of ours."""
    guards = [guard for guard in GUARDS if guard.file == file and (guard.file, guard.says) not in REFUSED_ANYWAY]
    unproved = [guard for guard in guards if not is_needed(guard, refusals)]
    assert not unproved, "\n".join(f"{one.file}:{one.line} {one.says}" for one in unproved)


def test_what_is_refused_anyway_is_still_there() -> None:
    assert {(guard.file, guard.says) for guard in GUARDS} >= REFUSED_ANYWAY


def is_needed(guard: Guard, refusals: Refusals) -> bool:
    """Return whether a forgery is accepted where its guard is missing, or ends in another error than a refusal."""
    for document in refusals.get((guard.file, guard.line), ()):
        with without(guard):
            try:
                if refused_by(document) is None:
                    return True
            except DoesNotVerify:
                raise
            except Exception:
                return True
    return False
