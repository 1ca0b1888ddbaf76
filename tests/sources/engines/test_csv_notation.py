"""CSV files in other notations and encodings are counted and known again as the same rows in Parquet are."""

import gzip

import pyarrow as pa
import pytest
from pyarrow import parquet

from crowdblend.errors import InvalidInput
from crowdblend.ledger.identity import FingerprintRequest
from crowdblend.methods.designs.draw import Everybody
from crowdblend.policies.load import parse_policy
from crowdblend.policies.resources import Resources
from crowdblend.sources.engines.choice import count_classes, identify
from tests.cases import for_each
from tests.policies.policies import policy_text

_POLICY = policy_text(
    data='source = "{source}"\nperson = "id"\n{options}',
    sampling='design = "coins"\nrate = 0.5',
    columns=(
        'town = {{ values = ["Köln", "Århus", "Łódź"], other = "Other" }}',
        'pay = {{ from = 0, to = 3000, width = 0.1 }}\nborn = {{ date = "month" }}',
    ),
    privacy="epsilon = 1.0",
    publish='kind = "table"\nk = 5',
)
_PAYS = [0.1, 0.2, 0.30000000000000004, 1234.5, 2999.9]
_ROWS = [
    {
        "id": n,
        "town": ("Köln", "Århus")[n % 2],
        "pay": _PAYS[n % 5],
        "born": f"19{50 + n % 50}-{n % 12 + 1:02}-0{1 + n % 9}",
    }
    for n in range(400)
]
_OPTIONS = 'delimiter = ";"\ndecimal = ","\nthousands = "."\ndate_format = "%d.%m.%Y"\n'


def _german(row, grouped=True):
    whole, _, rest = f"{row['pay']!r}".partition(".")
    pay = (f"{int(whole):,}".replace(",", ".") if grouped else whole) + (f",{rest}" if rest else "")
    year, month, day = row["born"].split("-")
    return f"{row['id']};{row['town']};{pay};{int(day)}.{month}.{year}"


def _policy(folder, source, options):
    return parse_policy(_POLICY.format(source=source, options=options), folder)


def _plain(folder):
    parquet.write_table(pa.Table.from_pylist(_ROWS), folder / "people.parquet")
    return _policy(folder, "people.parquet", "")


def test_the_ledger_knows_the_rows_again(tmp_path):
    text = "\n".join(["id;town;pay;born", *map(_german, _ROWS), ""])
    (tmp_path / "people.csv.gz").write_bytes(gzip.compress(text.encode("cp1252")))
    wanted = FingerprintRequest(secret=b"s" * 32)
    there = _policy(tmp_path, "people.csv.gz", _OPTIONS + 'encoding = "cp1252"')
    found, plain = (identify(one.data, Resources(), wanted) for one in (there, _plain(tmp_path)))
    assert found.sketches == plain.sketches
    other = _policy(tmp_path, "people.csv.gz", 'delimiter = ";"\nencoding = "cp1252"')
    assert identify(other.data, Resources(), wanted).sketches != plain.sketches, "the notation matters"


@for_each(("encoding", "remedy"), [("latin-1", "cp1252"), ("ascii", "encoding")])
def test_bytes_that_are_not_in_the_encoding_are_refused(tmp_path, encoding, remedy):
    """A euro sign of Windows is a control character in Latin-1."""
    (tmp_path / "people.csv").write_bytes("id;town;pay;born\n400;€;1;1.1.1990\n".encode("cp1252"))
    with pytest.raises(InvalidInput) as caught:
        count_classes(_policy(tmp_path, "people.csv", f'{_OPTIONS}encoding = "{encoding}"'), Everybody())
    assert (caught.value.code, remedy in caught.value.remedy) == ("data.encoding", True)
