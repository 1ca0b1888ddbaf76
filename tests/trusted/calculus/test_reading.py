"""Reading a certificate costs little, whatever the file is."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from crowdblend import plan, verify
from crowdblend.cli.main import cli
from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.trusted.calculus import verify_file, verify_folder
from crowdblend.trusted.calculus.encoding import MOST_BYTES

TEXT = plan(rate=0.1, k=20, epsilon=0.5).certificate().to_json()


def test_what_is_too_large_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    with path.open("w") as file:
        file.truncate(64 * MOST_BYTES)
    with pytest.raises(InvalidInput, match="more than 4,194,304 bytes"):
        verify_file(path)
    with pytest.raises(InvalidInput, match="more than 4,194,304 bytes"):
        verify(" " * MOST_BYTES + TEXT)
    path.write_text(TEXT + " " * (MOST_BYTES - len(TEXT.encode())), encoding="utf-8")
    assert verify_file(path).to_json() == TEXT


MEASURE = """
import resource, sys
from crowdblend import verify
from crowdblend.errors import CrowdblendError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for text in ('{"facts": [' + '[],' * %(count)d + '1]}', '{"a":' + '[' * 190 + '0,' * %(count)d + '1' + ']' * 190 + '}'):
    try:
        verify(text)
    except CrowdblendError:
        pass
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.slow  # a limit on memory, measured in a process of its own
def test_the_largest_text_takes_bounded_memory() -> None:
    script = MEASURE % {"count": MOST_BYTES // 3 - 200}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 500


def test_names_that_a_terminal_would_act_on_are_shown_escaped(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        verify_file(tmp_path / "x\x1b[2Kverified")
    assert "\x1b" not in str(refused.value)


def test_a_certificate_alone_says_that_its_data_were_not_checked(tmp_path: Path) -> None:
    certificate = replace(plan(rate=0.1, k=20, epsilon=0.5).certificate(), facts={"files": {"data.csv": "0" * 64}})
    (tmp_path / "certificate.json").write_text(certificate.to_json(), encoding="utf-8")
    alone = CliRunner().invoke(cli, ["verify", str(tmp_path / "certificate.json")])
    assert alone.exit_code == 0
    said = "The derivation is sound. The data were not checked; run crowdblend verify FOLDER."
    assert alone.output.splitlines()[0] == said
    with pytest.raises(DoesNotVerify, match="is missing"):
        verify_folder(tmp_path)
    (tmp_path / "data.csv").write_text("edited", encoding="utf-8")
    with pytest.raises(DoesNotVerify, match=r"data\.csv is not the file that was certified"):
        verify_folder(tmp_path)
    assert CliRunner().invoke(cli, ["verify", str(tmp_path)]).exit_code == 1


def test_what_is_no_text_is_no_certificate() -> None:
    for given in (b"{}", None, 3):
        with pytest.raises(InvalidInput) as refused:
            verify(given)  # type: ignore[arg-type]
        assert refused.value.code == "argument.type"
        assert type(given).__name__ in str(refused.value)
