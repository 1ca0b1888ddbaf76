"""A service user publishes: without a home, from a folder that cannot be written, as another user where root tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from crowdblend.lab.demo import write_population
from tests.policies.policies import policy_text

USER = 12345
POLICY = policy_text(
    data='source = "town.parquet"\nperson = "person_id"',
    sampling='design = "poisson"\nrate = 0.2',
    privacy="epsilon = 1.0\ndelta = 1e-6",
    columns='sex = { values = ["female", "male"] }',
    publish='kind = "table"',
)
# The interpreter of a developer may lie where others may not read: the user may read everything, and write nothing.
AS_ANOTHER = (
    *("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)


def test_a_user_without_a_home_publishes_from_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    write_population(tmp_path / "town.parquet", 2_000)
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    own = tmp_path / "own"
    own.mkdir()
    other = os.getuid() == 0 and shutil.which("setpriv") is not None
    if other:
        os.chown(own, USER, USER)
    tmp_path.chmod(0o555)
    environment = {
        "HOME": "/nonexistent",
        "PATH": os.environ["PATH"],
        "TMPDIR": str(own),
        "PYTHONDONTWRITEBYTECODE": "1",
    }

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = [*(AS_ANOTHER if other else ()), sys.executable, "-m", "crowdblend", *arguments]
        environ = environment | more
        return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)

    try:
        unnamed = run("release", "policy.toml", "--out", "own/out", "--yes", "--no-figures")
        assert unnamed.returncode == 2
        assert "CROWDBLEND_LEDGER" in unnamed.stderr
        ledger = {"CROWDBLEND_LEDGER": str(own / "ledger.sqlite"), "CROWDBLEND_LOG": str(own / "log.jsonl")}
        assert run("ledger", "init", **ledger).returncode == 0
        done = run("release", "policy.toml", "--out", "own/out", "--yes", "--no-figures", **ledger)
        assert done.returncode == 0, done.stderr
        assert sorted(path.name for path in own.iterdir()) == [
            "ledger.sqlite",
            "ledger.sqlite.heads",
            "log.jsonl",
            "out",
        ]
        assert not Path("/nonexistent").exists()
    finally:
        tmp_path.chmod(0o755)
