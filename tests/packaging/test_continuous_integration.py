"""Continuous integration does what the README says and nothing else, so that a failing `make test` is not hidden."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
ALLOWED = (
    r"set -euo pipefail",
    r'cd "\$\(dirname "\$0"\)/\.\."',
    r"missing=\(\)",
    r"(PATH=\$PATH:/usr/sbin )?command -v (java|chromium|pgbouncer) >/dev/null \|\| missing\+=\([a-z0-9-]+\)",
    r"if \(\(\$\{#missing\[@\]\}\)\); then",
    r"apt-get update -qq",
    r'apt-get install -y -qq --no-install-recommends "\$\{missing\[@\]\}"',
    r"fi",
)


def steps(script: str) -> list[str]:
    """Return the lines of a script that do something."""
    return [line for line in map(str.strip, script.splitlines()) if line and not line.startswith("#")]


def test_ci_installs_what_only_a_package_manager_can_and_calls_make_test() -> None:
    *before, last = steps((ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert last == "CROWDBLEND_TESTS_NEED=all make test"
    assert [line for line in before if not any(re.fullmatch(allowed, line) for allowed in ALLOWED)] == []


def pinned(name: str) -> dict[str, str]:
    """Return the exact versions of a requirements file, by the name of the package."""
    lines = steps((ROOT / "requirements" / name).read_text(encoding="utf-8"))
    return {line.partition("==")[0].lower(): line.partition("==")[2] for line in lines if "==" in line}


def test_the_demo_installs_the_dependencies_of_the_product_and_make_test_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    product, development = pinned("product.txt"), pinned("dev.txt")
    core = {re.split(r"[\[<>=]", line)[0].lower() for line in project["dependencies"]}
    extras = {
        re.split(r"[\[<>=]", line)[0].lower() for lines in project["optional-dependencies"].values() for line in lines
    } - {project["name"]}
    assert core <= product.keys()
    assert extras <= product.keys() | development.keys()
    assert not product.keys() & development.keys()


def test_workflows_use_actions_at_a_commit_which_nobody_can_move() -> None:
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    uses = [line for file in files for line in steps(file.read_text(encoding="utf-8")) if "uses:" in line]
    assert len(uses) > len(files)
    assert [line for line in uses if not re.fullmatch(r"- uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []
