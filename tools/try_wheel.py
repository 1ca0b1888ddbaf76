"""Build the wheel, install it into an empty environment, and do the main job there, away from the sources."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAIN_JOB = """
import crowdblend as cb
from crowdblend.lab.demo import town
columns = {"sex": cb.values("female", "male"), "age": cb.intervals(0, 120, width=20)}
budget = {"sampling": cb.Poisson(rate=0.5), "epsilon": 1.0, "delta": 1e-6}
policy = cb.Policy(person="person_id", columns=columns, publish=cb.Table("sex", "age"), **budget)
done = cb.release(town(5_000), policy, out="published", ledger=None)
assert cb.verify("published") == done.certificate
assert "site-packages" in cb.__file__, cb.__file__
print(f"{done.data.num_rows} rows published and verified by crowdblend {cb.__version__} from a wheel")
"""


def main() -> None:
    """Raise CalledProcessError where a step fails."""
    with tempfile.TemporaryDirectory(prefix="crowdblend-wheel-") as name:
        folder = Path(name)
        pip = ("-m", "pip", "--disable-pip-version-check", "--quiet")
        build = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", ROOT / "dist", ROOT)
        run(folder, sys.executable, *pip, *build)
        wheel = max((ROOT / "dist").glob("crowdblend-*.whl"), key=lambda path: path.stat().st_mtime)
        run(folder, sys.executable, "-m", "venv", "empty")
        programs = folder / "empty" / "bin"
        run(folder, programs / "python", *pip, "install", "--constraint", ROOT / "requirements" / "product.txt", wheel)
        run(folder, programs / "python", "-c", MAIN_JOB)
        run(folder, programs / "crowdblend", "verify", "published")
        run(folder, programs / "python", "-m", "crowdblend", "verify", "published")


def run(folder: Path, *command: str | Path) -> None:
    """Run a command in a folder, without the sources on its path."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(list(map(str, command)), cwd=folder, env=environment, check=True)


if __name__ == "__main__":
    main()
