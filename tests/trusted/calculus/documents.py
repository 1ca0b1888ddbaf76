"""Documents of certificates, edited and sealed again."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crowdblend.trusted.calculus.certificate import digest

Place = tuple[str | int, ...]
ISSUED = sorted((Path(__file__).parents[2] / "data" / "certificates").glob("*.json"))


def leaves(node: object, path: Place = ()) -> list[Place]:
    """Every place in a document that holds a number, a word or a flag."""
    return [place for place in places(node, path) if not isinstance(at(node, place[len(path) :]), dict | list)]


def places(node: object, path: Place = ()) -> Iterator[Place]:
    """Every place in a document below its root."""
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, item in inner:
        yield (*path, name)
        yield from places(item, (*path, name))


def at(document: Any, path: Place) -> Any:
    """What a document holds at a place."""
    for step in path:
        document = document[step]
    return document


def edited(document: dict[str, Any], path: Place, value: object) -> dict[str, Any]:
    """The document with another value at a place."""
    changed = copy.deepcopy(document)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def resealed(document: dict[str, Any]) -> str:
    """The document with a digest that fits: an editor who knows how the digest is made."""
    body = {name: part for name, part in document.items() if name != "digest"}
    return json.dumps({**body, "digest": digest(body)})
