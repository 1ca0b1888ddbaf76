"""The line for cron in docs/operations.md runs as cron runs it: by sh, without a terminal and almost no environment."""

import json
import re
import subprocess
import sys
from pathlib import Path

from crowdblend.lab.demo import write_population
from tests.packaging.test_service_user import POLICY

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"


def test_the_line_of_cron_publishes_and_the_same_night_is_one_release(tmp_path: Path) -> None:
    (line,) = re.findall(r"^\| cron \| `\S+ \S+ \* \* \* crowdblend ([^`]+)`", PAGE.read_text(encoding="utf-8"), re.M)
    write_population(tmp_path / "town.parquet", 2_000)
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "releases").mkdir()
    places = {
        "/opt/crowdblend/bin/crowdblend": f"{sys.executable} -m crowdblend",
        "/var/lib/crowdblend": str(tmp_path),
        "/etc/crowdblend": str(tmp_path),
        "/srv/releases": str(tmp_path / "releases"),
        r"\%": "%",  # cron's spelling of %
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
