"""The lines for cron and systemd in docs/nightly.md run as these run them, with almost no environment."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from crowdblend.lab.demo import write_population
from tests.packaging.test_service_user import POLICY

PAGE = Path(__file__).parents[2] / "docs" / "nightly.md"


CRON = re.compile(r"^```cron\n\S+ \S+ \* \* \* ([^\n]+)\n```$", re.MULTILINE)
UNIT = re.compile(r"^```ini\n# \S+\.service\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def cron_line(page: str) -> str:
    """Return the command of cron, with its spelling of % undone."""
    (line,) = CRON.findall(page)
    return str(line).replace(r"\%", "%")


def systemd_line(page: str) -> str:
    """Return the command of the unit with its environment, with systemd's spelling of % and $ undone."""
    (unit,) = UNIT.findall(page)
    keys = [line.partition("=") for line in unit.splitlines() if "=" in line]
    environment = " ".join(value for name, _, value in keys if name == "Environment")
    (command,) = (value for name, _, value in keys if name == "ExecStart")
    return f"{environment} {command}".replace("%%", "%").replace("$$", "$")


@pytest.mark.parametrize("line_of", [cron_line, systemd_line])
def test_the_line_publishes_and_the_same_night_is_one_release(line_of: Callable[[str], str], tmp_path: Path) -> None:
    line = line_of(PAGE.read_text(encoding="utf-8"))
    write_population(tmp_path / "town.parquet", 2_000)
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "releases").mkdir()
    places = {
        "/opt/crowdblend/bin/crowdblend": f"{sys.executable} -m crowdblend",
        "/var/lib/crowdblend": str(tmp_path),
        "/etc/crowdblend": str(tmp_path),
        "/srv/releases": str(tmp_path / "releases"),
    }
    for documented, here in places.items():
        assert documented in line
        line = line.replace(documented, here)

    def cron(command: str) -> subprocess.CompletedProcess[str]:
        alone = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "SHELL": "/bin/sh"}
        return subprocess.run(
            ["/bin/sh", "-c", command],
            cwd="/",
            env=alone,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    assert cron(line).returncode == 2, "no ledger is made by a job"
    ledger = tmp_path / "ledger.sqlite"
    assert cron(f"{sys.executable} -m crowdblend ledger init {ledger}").returncode == 0
    done = cron(line)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "releases").iterdir()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", folder.name)
    assert cron(f"{sys.executable} -m crowdblend verify {folder}").returncode == 0
    again = cron(line)
    assert again.returncode == 2, "the folder of this night is there"
    listed = cron(f"{sys.executable} -m crowdblend ledger list --ledger {ledger} --json")
    assert len(json.loads(listed.stdout)["entries"]) == 1
