"""What is in an SVG picture, for tests: it is parsed as XML, so that a picture which is not well formed fails."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree


@dataclass(frozen=True)
class Picture:
    """The shapes of a picture in their order, attributes as numbers where they are numbers."""

    width: float
    height: float
    shapes: list[tuple[str, dict[str, str], str]]

    @classmethod
    def parse(cls, svg: str) -> Picture:
        root = ElementTree.fromstring(svg)
        shapes = [(child.tag.split("}")[1], dict(child.attrib), child.text or "") for child in root]
        return cls(float(root.attrib["width"]), float(root.attrib["height"]), shapes)

    def texts(self) -> list[str]:
        return [text for name, _, text in self.shapes if name == "text"]

    def of(self, kind: str) -> list[dict[str, str]]:
        return [attributes for name, attributes, _ in self.shapes if name == kind]

    def inside(self) -> bool:
        """Whether every rectangle, line, dot and beginning of an upright text lies in the picture."""
        for name, at, _ in self.shapes:
            ends = {
                "rect": lambda at: [(at["x"], at["y"]), (_sum(at, "x", "width"), _sum(at, "y", "height"))],
                "line": lambda at: [(at["x1"], at["y1"]), (at["x2"], at["y2"])],
                "circle": lambda at: [(at["cx"], at["cy"])],
                "text": lambda at: [(at["x"], at["y"])] if "x" in at else [],
            }[name](at)
            if not all(0 <= float(x) <= self.width and 0 <= float(y) <= self.height for x, y in ends):
                return False
        return True


def _sum(attributes: dict[str, str], one: str, other: str) -> float:
    return float(attributes[one]) + float(attributes[other])
