"""How many mutants of a sample the tests notice, by the judgements in survivors.csv."""

import csv
from collections import Counter
from pathlib import Path

SURVIVORS = Path(__file__).with_name("survivors.csv")
SAMPLE = 400


def counted() -> Counter[str]:
    """Return the mutants of the sample by judgement; those that are not listed were noticed at first."""
    with SURVIVORS.open(encoding="utf-8", newline="") as lines:
        found = Counter(row["judgement"] for row in csv.DictReader(lines))
    assert set(found) == {"equivalent", "now", "open"}
    return found + Counter({"at first": SAMPLE - found.total()})


def main() -> None:
    """Print the shares."""
    found = counted()
    real = SAMPLE - found["equivalent"]
    for words, noticed in (("at first", found["at first"]), ("now", found["at first"] + found["now"])):
        print(f"noticed {words}: {noticed} of {real}, {100 * noticed / real:.1f} %")


if __name__ == "__main__":
    main()
