"""Files: each format is valid, nothing is overwritten unasked, nothing is fetched, nothing is left half-written."""

import builtins
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from crowdblend.errors import InvalidInput
from crowdblend.figures import Axis, line_chart, save

SPEC = line_chart(
    [{"x": x, "y": 10.0**-x, "s": "β = 0.1", "bound": b} for x in range(1, 8) for b in ("exact", "published")],
    x=Axis("x", "ε"),
    y=Axis("y", "δ", log=True),
    series="s",
    title="δ falls with ε",
)


def test_svg_is_xml_with_readable_labels(tmp_path):
    save(SPEC, tmp_path / "figure.svg")
    root = ET.parse(tmp_path / "figure.svg").getroot()
    texts = [text for node in root.iter() if (text := (node.text or "").strip())]
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert {"δ falls with ε", "1e-6", "exact", "published"} <= set(texts)


def test_png_has_its_signature_and_a_useful_size(tmp_path):
    save(SPEC, tmp_path / "figure.PNG")
    content = (tmp_path / "figure.PNG").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(content[16:20], "big") > 1000


def test_html_works_without_a_network(tmp_path):
    save(SPEC, tmp_path / "figure.html")
    page = (tmp_path / "figure.html").read_text()
    assert "δ falls with ε" in page
    assert not re.search(r"<script[^>]*\bsrc", page)
    assert not re.search(r"<(script|link|img|iframe)\b[^>]*\b(src|href)\s*=\s*[\"']?(https?:)?//", page)
    assert not re.search(r"import\s*\(?\s*['\"]https?://|@import|url\(['\"]?https?:", page)
    assert '"editor":false' in page.replace(" ", "")


@pytest.mark.parametrize("name", ["figure.pdf", "figure", "figure.svg.gz", ".svg"])
def test_other_endings_are_refused(tmp_path, name):
    with pytest.raises(InvalidInput, match=r"\.svg, \.png, \.html"):
        save(SPEC, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_an_existing_file_is_kept_unless_forced(tmp_path):
    path = tmp_path / "figure.svg"
    path.write_text("mine")
    with pytest.raises(InvalidInput, match="must not exist yet"):
        save(SPEC, path)
    assert path.read_text() == "mine"
    save(SPEC, path, force=True)
    assert path.read_text().startswith("<svg")
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="folder must exist"):
        save(SPEC, tmp_path / "none" / "figure.svg")


def test_a_failed_write_leaves_nothing(tmp_path):
    (tmp_path / "figure.svg").mkdir()
    with pytest.raises(InvalidInput, match="must be writable"):
        save(SPEC, tmp_path / "figure.svg", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["figure.svg"]


def test_a_missing_renderer_names_the_extra(tmp_path, monkeypatch):
    known = builtins.__import__

    def without(name, *rest, **more):
        if name == "vl_convert":
            raise ModuleNotFoundError(name)
        return known(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InvalidInput, match=re.escape("pip install vl-convert-python")):
        save(SPEC, tmp_path / "figure.svg")


def test_the_renderer_is_loaded_only_to_draw():
    source = (Path(__file__).parents[2] / "src" / "crowdblend" / "figures").glob("*.py")
    assert not [line for path in source for line in path.read_text().splitlines() if line.startswith("import vl_")]
