"""A town whose columns offer levels, and policies that let it choose."""

from pathlib import Path

from crowdblend.lab.demo import write_population
from tests.policies.policies import policy_text

KEY = bytes(range(32))
DISTRICTS = """Harbour;Water;*
Old Town;Centre;*
Riverside;Water;*
Hillside;Edge;*
Station;Centre;*
Garden City;Edge;*
University;Centre;*
Mills;Water;*
"""
POLICY = policy_text(
    data='source = "town.parquet"\nperson = "person_id"',
    sampling='design = "poisson"\nrate = 0.5',
    columns=(
        'sex = { values = ["female", "male"] }',
        "age = { from = 0, to = 100, width = [5, 10, 20, 100], top = true }",
        'district = { hierarchy = "districts.csv", level = "choose" }',
    ),
    recoding='epsilon = 0.1\nusing = "population"',
    privacy="epsilon = 1.0\ndelta = 1e-6",
    publish='kind = "table"',
)
SPLIT = POLICY.replace('"population"', '"split"\nshare = 0.25')
DRAWN = SPLIT.replace("poisson", "coins")
CHOOSING = '[recoding]\nepsilon = 0.1\nusing = "population"\n'


def write_town(folder: Path) -> Path:
    write_population(folder / "town.parquet", 20_000)
    (folder / "districts.csv").write_text(DISTRICTS)
    (folder / "torn.csv").write_text("a;x;p\nb;x;q\n")
    return folder
