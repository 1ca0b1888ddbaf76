"""What is in an SVG picture, for tests: it is parsed as XML, so that a picture which is not well formed fails."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

import pytest

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Picture:
    """The shapes of a picture in their order, with their attributes and texts."""

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

    def paths(self) -> list[list[tuple[float, float]]]:
        """The points of every path."""
        lists = (path["points"].split() for path in self.of("polyline"))
        return [[(float(x), float(y)) for x, y in (point.split(",") for point in points)] for points in lists]

    def inside(self) -> bool:
        """Whether every rectangle, line, dot and beginning of an upright text lies in the picture."""
        points = [point for path in self.paths() for point in path]
        for name, at, _ in self.shapes:
            match name:
                case "rect":
                    x, y = float(at.get("x", 0)), float(at.get("y", 0))
                    points += [(x, y), (x + float(at["width"]), y + float(at["height"]))]
                case "line":
                    points += [(float(at["x1"]), float(at["y1"])), (float(at["x2"]), float(at["y2"]))]
                case "circle":
                    points.append((float(at["cx"]), float(at["cy"])))
                case "text" if "x" in at:
                    points.append((float(at["x"]), float(at["y"])))
        return all(-0.01 <= x <= self.width + 0.01 and -0.01 <= y <= self.height + 0.01 for x, y in points)

    def assert_same(self, other: Picture, *, tolerance: float = 0.02) -> None:
        """The same shapes, texts and colours; every coordinate within `tolerance`, two units of its last digit."""
        assert (self.width, self.height) == pytest.approx((other.width, other.height), abs=tolerance)
        assert len(self.shapes) == len(other.shapes)
        for (name, mine, text), (its_name, its, its_text) in zip(self.shapes, other.shapes, strict=True):
            assert (name, text, list(mine)) == (its_name, its_text, list(its))
            for key, value in mine.items():
                if value.startswith("#"):
                    assert value == its[key]
                    continue
                assert NUMBER.sub("", value) == NUMBER.sub("", its[key])
                numbers = [[float(part) for part in NUMBER.findall(one)] for one in (value, its[key])]
                assert numbers[0] == pytest.approx(numbers[1], abs=tolerance), (name, key, text)
