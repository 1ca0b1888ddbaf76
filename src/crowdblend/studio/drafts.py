"""Policies in the making, each a file in the studio's folder: names, types and choices, never a value of the data."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from crowdblend.errors import InvalidInput, Refused
from crowdblend.studio.model.choices import Choices
from crowdblend.trusted.machine.type_resolution import resolve

_ID = re.compile(r"[0-9a-f]{12}")
_MOST_DRAFTS = 500
# How many changes can be undone.
_MOST_PAST = 40


@dataclass(frozen=True)
class Draft:
    """One policy in the making; every change gives it another revision."""

    id: str
    choices: Choices
    revision: int = 0
    changed: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    """The names and types of the data's columns."""
    jobs: Mapping[str, str] = field(default_factory=dict)
    """The last job of a step, by the step's name."""
    hierarchies: tuple[str, ...] = ()
    """The hashes of the hierarchy files that were written for it, which may be written again."""
    policy: str = ""
    out: str = ""
    name: str = ""
    """What the steward calls it; blank where it is called after its data."""
    past: tuple[Choices, ...] = ()
    """The choices before the last changes, the latest last."""

    @property
    def title(self) -> str:
        """The title in the list of drafts."""
        if self.name:
            return self.name
        population = self.choices.value("data", "population")
        source = self.choices.value("data", "source").rsplit("/", 1)[-1]
        return " · ".join(text for text in (population, source) if text) or "nothing chosen yet"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the data's columns."""
        return tuple(name for name, _ in self.columns)


class Drafts:
    """The drafts of one studio."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def new(self, choices: Choices, columns: tuple[tuple[str, str], ...] = ()) -> Draft:
        """Begin another draft."""
        if len(self.all()) >= _MOST_DRAFTS:
            message = f"There are {_MOST_DRAFTS} drafts already."
            raise Refused(message, remedy="Delete some on the first page.", where="drafts", code="studio.drafts")
        return self._write(Draft(secrets.token_hex(6), choices, columns=columns))

    def get(self, draft_id: str) -> Draft:
        """Return the draft of that number."""
        if not _ID.fullmatch(draft_id):
            raise _missing()
        try:
            return msgspec.json.decode(self._path(draft_id).read_bytes(), type=resolve(Draft))
        except (OSError, msgspec.MsgspecError):
            raise _missing() from None

    def all(self) -> list[Draft]:
        """Return every draft, the last changed first."""
        if not self._folder.is_dir():
            return []
        found = []
        for path in self._folder.glob("*.json"):
            try:
                found.append(self.get(path.stem))
            except InvalidInput:
                continue
        return sorted(found, key=lambda draft: draft.changed, reverse=True)

    def change(self, draft_id: str, how: Callable[[Draft], Draft], revision: int | None = None) -> Draft:
        """Change a draft; refused where another tab changed it since the page was made."""
        with self._lock:
            draft = self.get(draft_id)
            if revision is not None and revision != draft.revision:
                message = "This draft was changed in another tab since this page was loaded."
                remedy = "Reload the page, and make your change again."
                raise Refused(message, remedy=remedy, where="draft", code="studio.changed-elsewhere")
            changed = how(draft)
            if changed == draft:
                return draft
            if changed.choices != draft.choices and changed.past == draft.past:
                changed = replace(changed, past=(*draft.past, draft.choices)[-_MOST_PAST:])
            return self._write(replace(changed, revision=draft.revision + 1))

    def undo(self, draft_id: str, revision: int | None = None) -> Draft:
        """Take the last change of the choices back."""

        def before(draft: Draft) -> Draft:
            if not draft.past:
                raise Refused(
                    "There is nothing to undo.", remedy="Go on.", where="draft", code="studio.nothing-to-undo"
                )
            return replace(draft, choices=draft.past[-1], past=draft.past[:-1])

        return self.change(draft_id, before, revision)

    def copy(self, draft_id: str, name: str, choices: Choices | None = None) -> Draft:
        """Begin another draft with the choices of one; what was published from that one stays its own."""
        draft = self.get(draft_id)
        made = self.new(choices or draft.choices, draft.columns)
        return self.change(made.id, lambda one: replace(one, name=name, hierarchies=draft.hierarchies))

    def delete(self, draft_id: str) -> None:
        """Forget a draft; what was published from it stays."""
        self.get(draft_id)
        self._path(draft_id).unlink(missing_ok=True)

    def _write(self, draft: Draft) -> Draft:
        draft = replace(draft, changed=datetime.now(UTC).isoformat(timespec="milliseconds"))
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = self._path(draft.id).with_suffix(".part")
        part.write_bytes(msgspec.json.encode(draft))
        part.replace(self._path(draft.id))
        return draft

    def _path(self, draft_id: str) -> Path:
        return self._folder / f"{draft_id}.json"


def _missing() -> InvalidInput:
    return InvalidInput(
        "There is no such draft.", remedy="Choose one on the first page.", where="draft", code="studio.no-draft"
    )
