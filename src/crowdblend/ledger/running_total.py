"""The laws of all releases so far, kept in a file of the user's cache folder.

The file holds the curves that were composed and the masses of both laws, rounded up. When it fits, only what was added
since is composed; when it is missing, damaged or of other releases, everything is composed again. Masses are only ever
rounded up, so a total that went through the file is never below the one that did not.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from flint import arb

from crowdblend.calculus.encoding import decode, encode
from crowdblend.calculus.loss_curves import grid_of, together
from crowdblend.errors import CrowdblendError
from crowdblend.guarantees import LossCurve, Profile, Uses
from crowdblend.numerics.balls import precision
from crowdblend.numerics.loss_law import BITS, LossLaw
from crowdblend.numerics.profile_curves import LossPair

FORMAT = "crowdblend running total 1"
# Far below any δ that a steward would set, also after thousands of releases.
CUT = 1e-17
# A kept grid is used again while it is hardly coarser than the one that fits all releases, and not far finer.
COARSER, FINER = 1.5, 16.0
KEPT_BITS = 64


def cache_file(ledger: str, population: str) -> Path:
    """Where the laws of a population of a ledger are kept: $XDG_CACHE_HOME, else ~/.cache."""
    stated = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(stated) if os.path.isabs(stated) else Path("~/.cache").expanduser()
    name = hashlib.sha256(f"{ledger}\n{population}".encode()).hexdigest()
    return folder / "crowdblend" / "totals" / f"{name}.json"


def laws(uses: tuple[Uses, ...], cache: Path | None) -> LossPair:
    """The laws of these releases together; what a cache holds of them is not composed again."""
    wanted = grid_of(uses)
    kept = _read(cache) if cache is not None else None
    if kept is not None:
        before, pair = kept
        missing = _difference(uses, before)
        if missing is not None and _serves(pair, wanted):
            if not missing:
                return pair
            grown = _on_grid(pair, missing)
            if grown is not None:
                _write(cache, uses, grown)
                return grown
    pair = together(uses, wanted, CUT)
    _write(cache, uses, pair)
    return pair


def beside(pair: LossPair | None, uses: tuple[Uses, ...], more: tuple[Uses, ...]) -> LossPair:
    """The laws of these releases, whose laws are known, and of more; nothing is kept of it."""
    every = Profile((*uses, *more)).uses
    wanted = grid_of(every)
    grown = _on_grid(pair, more) if pair is not None and _serves(pair, wanted) else None
    return together(every, wanted, CUT) if grown is None else grown


def _serves(pair: LossPair, wanted: float) -> bool:
    return wanted / FINER <= pair.up.spacing <= wanted * COARSER


def _on_grid(pair: LossPair, more: tuple[Uses, ...]) -> LossPair | None:
    """The laws with more releases on the same grid; None where these need a coarser one."""
    added = together(more, pair.up.spacing, CUT)
    if added.up.spacing != pair.up.spacing:
        return None
    return LossPair(pair.up.beside(added.up), pair.down.beside(added.down))


def _difference(uses: tuple[Uses, ...], before: tuple[Uses, ...]) -> tuple[Uses, ...] | None:
    """What was added since; None when something was taken away."""
    left: dict[LossCurve, int] = {use.curve: use.releases for use in uses}
    for use in before:
        left[use.curve] = left.get(use.curve, 0) - use.releases
    if any(count < 0 for count in left.values()):
        return None
    return tuple(Uses(curve, count) for curve, count in left.items() if count)


def _write(cache: Path | None, uses: tuple[Uses, ...], pair: LossPair) -> None:
    if cache is None:
        return
    body = {
        "format": FORMAT,
        "uses": [encode(use) for use in uses],
        "spacing": pair.up.spacing.hex(),
        "laws": [_kept(law) for law in (pair.up, pair.down)],
    }
    with suppress(OSError):
        cache.parent.mkdir(parents=True, exist_ok=True)
        partial = cache.with_suffix(f".{os.getpid()}")
        partial.write_text(json.dumps({**body, "digest": _digest(body)}), encoding="utf-8")
        partial.chmod(0o600)
        partial.replace(cache)


def _read(cache: Path) -> tuple[tuple[Uses, ...], LossPair] | None:
    try:
        document: dict[str, Any] = json.loads(cache.read_text(encoding="utf-8"))
        body = {name: part for name, part in document.items() if name != "digest"}
        if body["format"] != FORMAT or _digest(body) != document["digest"]:
            return None
        uses = tuple(decode(use) for use in body["uses"])
        spacing = float.fromhex(body["spacing"])
        up, down = (_law(spacing, law) for law in body["laws"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, CrowdblendError):
        return None
    return uses, LossPair(up, down)


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _kept(law: LossLaw) -> dict[str, Any]:
    return {"first": law.first, "masses": [_up(mass) for mass in law.masses], "infinite": _up(law.infinite)}


def _law(spacing: float, document: dict[str, Any]) -> LossLaw:
    with precision(BITS):
        masses = tuple(_mass(text) for text in document["masses"])
        return LossLaw(spacing, CUT, int(document["first"]), masses, _mass(document["infinite"]))


def _up(mass: arb) -> str:
    """A mass as a whole number and a power of two, rounded up to 64 bits."""
    with precision(BITS):
        number, power = (int(part) for part in mass.upper().nonnegative_part().man_exp())
    extra = max(number.bit_length() - KEPT_BITS, 0)
    return f"{-(-number >> extra):x}:{power + extra}"


def _mass(text: str) -> arb:
    number, power = text.split(":")
    return arb(int(number, 16)) * arb(2) ** int(power)
