"""A standalone cluster, one master and two workers: the line of the documentation, and releases of every kind."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import crowdblend
from crowdblend.sources.engines.spark.package import write_package
from tests import needs
from tests.golden.releases import POLICIES
from tests.golden.test_golden import hashes_of, written_hashes
from tests.sources.engines.spark.conftest import SETTINGS

ROOT = Path(__file__).parents[4]
FEW = ("table", "points", "graph")
OTHERS = ("microdata", "microdata-visits", "outlier-table", "statistics", "synopsis", "synthetic", "table-one")
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
QUICK = {
    **{name: value for name, value in SETTINGS.items() if name.startswith(("spark.sql.", "spark.ui."))},
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.driver.extraJavaOptions": _JAVA,
    "spark.executor.extraJavaOptions": _JAVA,
}
# Seconds, of a machine that does much else.
LONGEST = 600


def documented_line() -> str:
    """The line of docs/clusters.md."""
    page = (ROOT / "docs" / "clusters.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^    (spark-submit .*)$", page, re.MULTILINE)
    return line


class Cluster:
    """The processes of Spark, with the folder that they write to."""

    def __init__(self, folder: Path) -> None:
        (spec,) = find_spec("pyspark").submodule_search_locations  # type: ignore[union-attr, misc]
        self.folder, self.home = folder, Path(spec)
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start a master on a free port, and two workers; wait until it knows both."""
        common = ("--host", "127.0.0.1", "--webui-port", "0")
        self.run("master.Master", *common, "--port", "0")
        (self.master,) = self.wait_for(r"Starting Spark master at (spark://\S+)", 1)
        for number in (1, 2):
            where = ("--work-dir", str(self.folder / f"work-{number}"), "--cores", "1", "--memory", "1g")
            self.run("worker.Worker", self.master, *common, *where)
        self.wait_for(r"Registering worker (\S+)", 2)

    def run(self, name: str, *arguments: str) -> None:
        """Start a master or a worker, in a session of processes that ends with it."""
        options = ["-Xmx256m", *_JAVA.split(), f"-Dspark.local.dir={self.folder}"]
        command = ["java", *options, "-cp", f"{self.home}/jars/*", f"org.apache.spark.deploy.{name}", *arguments]
        environment = self.environment | {"SPARK_LOCAL_DIRS": str(self.folder / "executors")}
        with (self.folder / f"{len(self.processes)}.log").open("wb") as log:
            self.processes.append(
                subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
            )

    @property
    def environment(self) -> dict[str, str]:
        """The variables of every process of Spark; workers ask for the version of Scala."""
        return {**os.environ, "SPARK_HOME": str(self.home), "SPARK_SCALA_VERSION": "2.13"}

    def wait_for(self, pattern: str, times: int) -> list[str]:
        """Return what the master's log says, once it has said it so many times."""
        log = self.folder / "0.log"
        until = time.monotonic() + LONGEST
        while len(found := re.findall(pattern, log.read_text(encoding="utf-8"))) < times:
            ended = [process for process in self.processes if process.poll() is not None]
            assert not ended, log.read_text(encoding="utf-8")[-3000:]
            assert time.monotonic() < until, log.read_text(encoding="utf-8")[-3000:]
            time.sleep(0.2)
        return found

    def stop(self) -> None:
        """End them, and what they started."""
        for process in self.processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def submit(self, folder: Path, line: str, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
        """Run a line of spark-submit on the cluster, with the executors' Python; all that ours says is in stdout."""
        _, *arguments = shlex.split(line.replace("--master yarn", f"--master {self.master}"))
        settings = QUICK | {"spark.local.dir": str(self.folder / "driver")}
        options = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        environment = {
            **self.environment,
            **{"PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)},
            "CROWDBLEND_LEDGER": str(folder / "ledger.sqlite"),
        }
        command = [str(self.home / "bin" / "spark-submit"), *options, *arguments]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False
        )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    needs.spark()
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


def prepare(folder: Path, sources: Path, *, dependencies: bool) -> None:
    """A steward's folder, with what is shipped."""
    write_package(folder / "shipped", dependencies=dependencies)
    shutil.copy(sources / "town.parquet", folder)
    (folder / "policy.toml").write_text(POLICIES["table"], encoding="utf-8")
    crowdblend.Ledger.create(folder / "ledger.sqlite")


def publish(cluster: Cluster, sources: Path, out: Path, names: tuple[str, ...]) -> None:
    """Publish golden policies in one session, and compare the files with those of one machine."""
    script = Path(__file__).with_name("on_standalone.py")
    line = f"spark-submit --master yarn {script} {sources} {out} {cluster.folder} {' '.join(names)}"
    done = cluster.submit(out, line)
    assert done.returncode == 0, done.stderr[-3000:]
    for name in names:
        assert hashes_of(out / name) == written_hashes()[name], name


def test_releases_on_a_cluster_have_the_bytes_of_one_machine_and_leave_no_secret(
    cluster: Cluster, sources: Path, tmp_path: Path
) -> None:
    publish(cluster, sources, tmp_path, FEW)


@pytest.mark.slow
def test_every_other_kind_has_the_bytes_of_one_machine(cluster: Cluster, sources: Path, tmp_path: Path) -> None:
    publish(cluster, sources, tmp_path, OTHERS)


def test_the_documented_line_publishes_on_a_cluster(cluster: Cluster, sources: Path, tmp_path: Path) -> None:
    """Executors have the dependencies."""
    prepare(tmp_path, sources, dependencies=False)
    run_documented_line(cluster, tmp_path, sys.executable)


@pytest.mark.slow
def test_the_dependencies_that_are_shipped_suffice(cluster: Cluster, sources: Path, tmp_path: Path) -> None:
    """The executors' Python is another one than the driver's, where tests run in an environment."""
    prepare(tmp_path, sources, dependencies=True)
    run_documented_line(cluster, tmp_path, sys._base_executable)  # type: ignore[attr-defined]


def run_documented_line(cluster: Cluster, folder: Path, python: str) -> None:
    """Publish as the page says, and verify the release."""
    done = cluster.submit(folder, f"{documented_line()} --json --no-figures --out out", python)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (answer,) = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    assert answer["entry"] == 1
    crowdblend.verify(folder / "out")


@pytest.mark.slow
def test_another_version_on_the_executors_is_refused(cluster: Cluster, sources: Path, tmp_path: Path) -> None:
    """What was shipped for an earlier version; nothing is spent."""
    prepare(tmp_path, sources, dependencies=False)
    old = tmp_path / "old" / "crowdblend"
    shutil.copytree(Path(crowdblend.__file__).parent, old, ignore=shutil.ignore_patterns("__pycache__"))
    (old / "trusted" / "machine" / "version.py").write_text('__version__ = "0.0.9"\n', encoding="utf-8")
    (archive,) = (tmp_path / "shipped").glob("*.tar.gz")
    archive.unlink()
    shutil.make_archive(str(archive).removesuffix(".tar.gz"), "gztar", old.parent)
    done = cluster.submit(tmp_path, f"{documented_line()} --no-figures")
    assert done.returncode == 2, done.stdout[-3000:] + done.stderr[-3000:]
    assert "run crowdblend 0.0.9" in done.stdout
    assert crowdblend.Ledger(tmp_path / "ledger.sqlite").entries() == ()


def test_a_release_is_made_by_a_package_in_an_archive(sources: Path, tmp_path: Path) -> None:
    """`--py-files` of a zip puts it first on the driver's path too: the page's files are read from inside."""
    archive = shutil.make_archive(str(tmp_path / "crowdblend"), "zip", Path(crowdblend.__file__).parents[1])
    prepare(tmp_path, sources, dependencies=False)
    environment = {**os.environ, "PYTHONPATH": archive, "CROWDBLEND_LEDGER": str(tmp_path / "ledger.sqlite")}
    command = [sys.executable, "-m", "crowdblend", "release", "policy.toml", "--yes", "--out", "out"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert "<style>" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
