"""A generated population with realistic margins: nobody in it exists.

The generator is seeded so that the demo is the same everywhere. That is harmless here and only here: the people are
invented, and nothing that protects anyone is drawn from it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crowdblend.trusted.machine.packages import parquet, pyarrow

PEOPLE = 200_000
DISTRICTS = ("Harbour", "Old Town", "Riverside", "Hillside", "Station", "Garden City", "University", "Mills")
# Kilometres east and north of the town hall, and how far people live from there.
MIDDLES = ((3, -2), (0, 0), (-2, 2), (4, 4), (1, 2), (-6, -3), (-3, -1), (6, -5))
SPREAD = (1.2, 0.8, 1.5, 1.8, 0.9, 2.0, 1.0, 1.6)
EDUCATION = ("none", "school", "vocational", "bachelor", "master", "doctorate")
OCCUPATIONS = (
    "none",
    "care",
    "clerical",
    "construction",
    "education",
    "engineering",
    "farming",
    "health",
    "hospitality",
    "law",
    "management",
    "manufacturing",
    "research",
    "sales",
    "transport",
)
SEED = 20120819
SURVEY_DAY = np.datetime64("2025-06-30")


def town(people: int = PEOPLE) -> pyarrow.Table:
    """Return the town as an Arrow table, one row per person.

    person_id, sex, age, district, education, occupation, income; where they live, east and north of the town hall in
    kilometres; and the day they were born.

    >>> town(1_000).num_rows
    1000
    """
    draw = np.random.default_rng(SEED)
    age = (104 * draw.beta(1.5, 2.2, people)).astype(np.int64)
    sex = np.where(draw.random(people) < 0.49 - 0.001 * np.maximum(age - 60, 0), "male", "female")
    district = _skew(draw, people, len(DISTRICTS), 0.7)
    education = _education(draw, age)
    occupation = _occupation(draw, age, education)
    income = _income(draw, age, education, occupation)
    person = draw.permutation(people) + 1_000_000
    east, north = _place(draw, district)
    return pyarrow.table(
        {
            "person_id": person,
            "sex": sex,
            "age": age,
            "district": np.array(DISTRICTS)[district],
            "education": np.array(EDUCATION)[education],
            "occupation": np.array(OCCUPATIONS)[occupation],
            "income": income,
            "east": east,
            "north": north,
            "born": SURVEY_DAY - (365.25 * age + draw.integers(0, 365, people)).astype("timedelta64[D]"),
        }
    )


def friendships(people: int = 2_000, most: int = 12) -> pyarrow.Table:
    """Return who knows whom in the town, as links between `source` and `target`; nobody knows more than `most`."""
    draw = np.random.default_rng(SEED + 1)
    near = np.abs(draw.normal(0, 8, 4 * people)).astype(np.int64) + 1
    first = draw.integers(0, people, 4 * people)
    pairs = np.unique(np.sort(np.column_stack([first, (first + near) % people]), axis=1), axis=0)
    known = [0] * people
    kept = []
    for one, other in draw.permutation(pairs[pairs[:, 0] != pairs[:, 1]]).tolist():
        if known[one] < most and known[other] < most:
            known[one] += 1
            known[other] += 1
            kept.append((one, other))
    ends = np.array(kept)
    return pyarrow.table({"source": ends[:, 0], "target": ends[:, 1]})


def write_population(path: Path, people: int = PEOPLE) -> None:
    """Write the town as a Parquet file."""
    parquet.write_table(town(people), path)


def write_friendships(path: Path) -> None:
    """Write who knows whom as a Parquet file."""
    parquet.write_table(friendships(), path)


def _place(draw: np.random.Generator, district: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return homes: around the middle of each person's district, rounded to ten metres."""
    spread = np.array(SPREAD)[district]
    east, north = np.array(MIDDLES)[district].T + draw.normal(0, 1, (2, len(district))) * spread
    return np.round(np.clip(east, -10, 10), 2), np.round(np.clip(north, -10, 10), 2)


def _skew(draw: np.random.Generator, people: int, classes: int, power: float) -> np.ndarray:
    weights = 1 / np.arange(1, classes + 1) ** power
    return draw.choice(classes, people, p=weights / weights.sum())


def _education(draw: np.random.Generator, age: np.ndarray) -> np.ndarray:
    reached = draw.choice(len(EDUCATION), len(age), p=[0.03, 0.30, 0.31, 0.21, 0.13, 0.02])
    possible = np.select([age < 16, age < 19, age < 22, age < 24, age < 28], [0, 1, 2, 3, 4], 5)
    limited: np.ndarray = np.minimum(reached, possible)
    return limited


def _occupation(draw: np.random.Generator, age: np.ndarray, education: np.ndarray) -> np.ndarray:
    """Degrees lead to professions, trades to trades; the young and the old mostly have none."""
    trades = np.array([0, 6, 9, 11, 3, 2, 4, 5, 10, 0.3, 3, 12, 0.2, 12, 9])
    degrees = np.array([0, 3, 7, 1, 13, 14, 0.5, 10, 1, 6, 14, 2, 8, 7, 1])
    chosen = np.where(
        education >= 3,
        draw.choice(len(OCCUPATIONS), len(age), p=degrees / degrees.sum()),
        draw.choice(len(OCCUPATIONS), len(age), p=trades / trades.sum()),
    )
    works = (age >= 18) & (age < 67) & (draw.random(len(age)) < 0.78)
    return np.where(works, chosen, 0)


def _income(draw: np.random.Generator, age: np.ndarray, education: np.ndarray, occupation: np.ndarray) -> np.ndarray:
    level = 9.4 + 0.16 * education + 0.012 * np.clip(age - 20, 0, 35) + 0.25 * np.isin(occupation, (5, 9, 10))
    income = np.exp(level + draw.normal(0, 0.45, len(age)))
    income = np.where(occupation == 0, np.where(age >= 67, income * 0.6, income * 0.25), income)
    return np.where(age < 16, 0, np.round(income, -2)).astype(np.int64)
