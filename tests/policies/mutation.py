"""Mutated policies: sound TOML of every kind, bent by a grammar of values, keys, sections and characters."""

import random
import re

from crowdblend.policies.key import keys_of, sections_of
from crowdblend.policies.load import parse_policy
from crowdblend.policies.publication import Publication
from crowdblend.policies.registry import KINDS, publication_keys
from crowdblend.policies.sampling import DESIGNS
from crowdblend.policies.terms import Terms
from tests.golden.releases import POLICIES, PROGRAMMES

SOUND = [parse_policy(text).to_toml() for text in (POLICIES | PROGRAMMES).values()]
SECTIONS = sorted(
    {*sections_of(Terms), "sampling", "columns", "recoding", "publish", "publish.statistics", "publish.boxes"}
)
KEYS = sorted(
    {key.name for kind in KINDS for key in publication_keys(kind).values()}
    | {key.name for holder in (Terms, *DESIGNS.values()) for key in keys_of(holder).values()}
    | {
        *keys_of(Publication),
        "from",
        "to",
        "values",
        "split",
        "design",
        "average",
        "median",
        "quantile",
        "histogram",
        "fraction",
    }
)
NUMBERS = [
    *("0", "1", "-1", "2", "3", "20", "0.1", "0.5", "0.999999999", "1.0", "1e-6", "1e-300", "5e-324", "1e-400"),
    *("1e308", "1e400", "-0.0", "nan", "inf", "-inf", "1e18", "1000000000000000000000", "9223372036854775808"),
    *("0x7fffffffffffffff", "1_000", "0.1e-5000", "1" + "0" * 400, "1" + "0" * 5000, "0." + "3" * 600),
]
CHARACTERS = [
    *("\\u0000", "\\u001b[2K", "\\u202e", "é", "名", "\\U0001f600", "\\n", "\\\\", "'", "\\t", " ", "\\u007f", "%s")
]
TEXTS = [
    *("", " ", "x", "sex", "age", "id", "FILL", "=1", "-", "../../etc/passwd", "table", "choose", "noise", "a" * 3000)
]
DAYS = ["2020-01-01", "0001-01-01", "9999-12-31", "2020-01-01T00:00:00Z", "12:30:00"]

TOKEN = re.compile(r'"[^"]*"|-?\d[\d.e+-]*|true|false')


class Mutator:
    """Draws mutated policies; the seed decides all of them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def policy(self) -> str:
        """A sound policy with one to four changes."""
        lines = self._random.choice(SOUND).splitlines()
        for _ in range(self._random.choice((1, 1, 1, 2, 3, 4))):
            lines = self._change(lines)
        return "\n".join(lines) + "\n"

    def value(self, depth: int = 0) -> str:
        """Any value that TOML can write, and some that it cannot."""
        draw, kind = self._random, self._random.randrange(12 if depth < 3 else 7)
        if kind < 3:
            return draw.choice(NUMBERS)
        if kind < 5:
            return f'"{draw.choice(TEXTS)}{draw.choice(["", "", *CHARACTERS])}"'
        if kind == 5:
            return draw.choice(["true", "false", *DAYS])
        if kind == 6:
            return draw.choice(["", "x", "[", "{", "'''", '"', "1 2", "\0", "\x7f", "[" * 500, "\ud7ff"])
        if kind < 9:
            items = [self.value(depth + 1) for _ in range(draw.randrange(4))]
            return f"[{', '.join(items)}]"
        keys = [f"{self.name()} = {self.value(depth + 1)}" for _ in range(draw.randrange(4))]
        return f"{{ {', '.join(keys)} }}"

    def name(self) -> str:
        """A key that some section has, or any other."""
        draw = self._random
        known = draw.choice(KEYS)
        other = f'"{draw.choice(TEXTS)}{draw.choice(CHARACTERS)}"'
        return draw.choice([known, known, known, other, known[:-1] or "x", "a.b"])

    def _token(self, line: str) -> str:
        """The line with one number, text or word of it changed for another of its type."""
        draw = self._random
        found = list(TOKEN.finditer(line, line.find("=") + 1))
        if not found:
            return line
        token = draw.choice(found)
        text = token[0]
        if text.startswith('"'):
            new = f'"{draw.choice([*TEXTS, text[1:-1]])}{draw.choice(["", "", "", *CHARACTERS])}"'
        elif text[0].isdigit() or text[0] == "-":
            new = draw.choice([*NUMBERS, *NUMBERS[:12], text + "0", text + ".5"])
        else:
            new = draw.choice(["true", "false", "1"])
        return line[: token.start()] + new + line[token.end() :]

    def _change(self, lines: list[str]) -> list[str]:
        draw, lines = self._random, list(lines)
        if not lines:
            return [f"{self.name()} = {self.value()}"]
        place = draw.randrange(len(lines))
        line, change = lines[place], draw.randrange(17)
        if change > 10:
            place = draw.choice([at for at, some in enumerate(lines) if "=" in some] or [0])
            lines[place] = self._token(lines[place])
        elif change <= 3 and "=" in line:
            lines[place] = f"{line.partition('=')[0]}= {self.value()}"
        elif change == 4 and "=" in line:
            lines[place] = f"{self.name()} ={line.partition('=')[2]}"
        elif change == 5:
            del lines[place]
        elif change == 6:
            lines.insert(draw.randrange(len(lines) + 1), line)
        elif change == 7:
            lines.insert(place, f"{self.name()} = {self.value()}")
        elif change == 8:
            brackets = draw.choice(["[{}]", "[[{}]]", "[{}.x]"])
            lines.insert(place, brackets.format(draw.choice([*SECTIONS, "about", '"\\u0000"', "data.x"])))
        elif change == 9:
            at = draw.randrange(len(line) + 1)
            lines[place] = line[:at] + draw.choice([*CHARACTERS, '"', "]", "}", "=", "0", "9", "e"]) + line[at:]
        else:
            key, known = draw.choice((("kind", KINDS), ("design", tuple(DESIGNS))))
            chosen = draw.choice(known)
            lines = [f'{key} = "{chosen}"' if line.startswith(f"{key} =") else line for line in lines]
        return lines
