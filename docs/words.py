"""How long the pages are and how easily they read: `python -m docs.words` prints it for every page and section.

Words are what has a letter in it, examples and tables included. Generated pages and tables do not count. Reading
ease is Flesch's, of the prose alone: 206.835 − 1.015 · words per sentence − 84.6 · syllables per word.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

DOCS = Path(__file__).parent
GENERATED = ("api.md", "cli.md", "combinations.md", "errors.md", "measured.md", "policy.md", "theorems.md")
TREE = re.compile(r"^```\{toctree\}\n:caption: ([^\n]+)\n:hidden:\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TABLES = re.compile(r"<!-- (?:figures: \w+|bench/[^>]+: begin) -->.*?<!-- (?:end|bench/[^>]+: end) -->", re.DOTALL)
_LETTER = re.compile(r"[^\W\d_]")
_CODE = re.compile(r"^( *)```.*?^\1```$|<!--.*?-->", re.MULTILINE | re.DOTALL)
_NO_PROSE = re.compile(r"^(#.*|\|.*|    \S.*|>>> .*)$", re.MULTILINE)
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_NUMBERED = re.compile(r"^\s*(?:[-*>]|\d+\.)\s+", re.MULTILINE)


def pages() -> list[Path]:
    """Every page and notebook that somebody wrote."""
    return [path for path in sorted(DOCS.rglob("*.md")) if path.name not in GENERATED] + sorted(DOCS.rglob("*.ipynb"))


def text_of(page: Path) -> str:
    """A page without tables that are written from figures; of a notebook, its text cells."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".md":
        return _TABLES.sub("", text)
    return "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")


def words(text: str) -> int:
    """How many words a text has.

    >>> words("| k | 35 | at least 35 people |")
    4
    """
    return sum(1 for token in text.split() if _LETTER.search(token))


def reading_ease(text: str) -> float:
    """How easily the prose of a page reads: 60 and above is plain English, below 50 is difficult.

    >>> reading_ease("The cat sat on the mat. It was warm.") > 100
    True
    >>> reading_ease("Methodological considerations necessitate institutional accountability.") < 0
    True
    """
    prose = _NUMBERED.sub("\x00", _LINK.sub(r"\1", _PICTURE.sub("", _NO_PROSE.sub("", _CODE.sub("", text)))))
    sentences = [
        part for part in re.split(r"[.!?](?=\s)|\n\s*\n|\n(?=\x00)", prose.replace("`", "")) if _LETTER.search(part)
    ]
    spoken = [re.sub(r"[^a-z]", "", token.lower()) for token in re.split(r"[\s/_–-]+", " ".join(sentences))]
    spoken = [word for word in spoken if word]
    return 206.835 - 1.015 * len(spoken) / len(sentences) - 84.6 * sum(map(syllables, spoken)) / len(spoken)


def syllables(word: str) -> int:
    """How many syllables an English word has, by its vowels.

    >>> [syllables(word) for word in ("release", "table", "people", "guarantee", "certificate", "sampled", "science")]
    [2, 2, 2, 3, 4, 2, 2]
    """
    stem = re.sub(r"(?<=[^aeiouyl])es?$|(?<=[aeiouy]l)es?$|(?<=[^aeiouydtl])ed$|(?<=[aeiouy]l)ed$", "", word)
    apart = re.findall(r"(?<![tcsgx])i[aou]|(?<![qg])u[ao]|[aeiouy]ing|ienc|iet", stem)
    return max(1, len(re.findall(r"[aeiouy]+", stem)) + len(apart))


def sections() -> dict[str, list[Path]]:
    """The pages of every section of the site, the first page by itself."""
    index = DOCS / "index.md"
    named = {caption: names.split() for caption, names in TREE.findall(index.read_text(encoding="utf-8"))}
    files = {path.relative_to(DOCS).with_suffix("").as_posix(): path for path in pages()}
    return {"First page": [index]} | {
        caption: [files[name] for name in names if name in files] for caption, names in named.items()
    }


def summary() -> str:
    """Every page of every section, with its words and its reading ease."""
    lines, total = [], 0
    for caption, members in sections().items():
        counts = [words(text_of(page)) for page in members]
        lines.append(f"\n{caption}: {sum(counts):,} words on {len(members)} pages")
        for page, count in zip(members, counts, strict=True):
            ease = reading_ease(text_of(page))
            lines.append(f"  {page.relative_to(DOCS).as_posix():30} {count:6,} words, reading ease {ease:.0f}")
        total += sum(counts)
    return "\n".join([*lines, f"\n{total:,} words\n"])


if __name__ == "__main__":
    sys.stdout.write(summary())
