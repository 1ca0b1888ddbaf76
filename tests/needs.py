"""What some tests need and a plain machine may lack.

Such a test is skipped with a sentence. CROWDBLEND_TESTS_NEED names what must be there ("java chromium"), or says "all":
then no test at all may be skipped, so that continuous integration cannot pass by not looking.
"""

import importlib.util
import os
import shutil

import pytest

# What a browser does beside showing the page: menus of its address bar for every tab and processes kept in reserve,
# two thirds of its time. The switch replaces the one of Playwright, whose features follow.
_BESIDE = [
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"),
    *("SpareRendererForSitePerProcess", "IsolateSandboxedIframes"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay"),
    *("MediaRouter", "PaintHolding", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled"),
    "PreconnectToSearch",
]
# Arguments of Chromium: a page is seen as it is, without a browser that looks for news of its own.
QUIET = [
    *("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"),
    f"--disable-features={','.join(_BESIDE)}",
]


def required() -> set[str]:
    """Return what the environment promises to be there."""
    return set(os.environ.get("CROWDBLEND_TESTS_NEED", "").split())


def need(what: str, present: bool, sentence: str) -> None:
    """Skip the test (or module) that calls this unless `what` is there; fail where it was promised to be."""
    if present:
        return
    if required() & {what, "all"}:
        pytest.fail(f"{sentence}, and CROWDBLEND_TESTS_NEED asks for {what}", pytrace=False)
    pytest.skip(f"{sentence}; .ci/run shows how to install it", allow_module_level=True)


def chromium() -> str:
    """Return the path of a Chromium that a browser test may start."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    need("chromium", path is not None, "Chromium is not installed")
    assert path is not None
    return path


def spark() -> None:
    """Java 17 and PySpark, for the tests that start a Spark session."""
    present = shutil.which("java") is not None and importlib.util.find_spec("pyspark") is not None
    need("java", present, "Java 17 and PySpark are not both installed")


def pgbouncer() -> str:
    """Return the path of PgBouncer, a pool of connections to PostgreSQL."""
    path = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    need("pgbouncer", path is not None, "PgBouncer is not installed")
    assert path is not None
    return path
