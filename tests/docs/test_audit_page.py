"""The page of the audit shows the figures that were measured, for every family and injected bug."""

import json
import os

from bench import audit_page
from tests.lab.auditing.broken_mechanisms import BROKEN_MECHANISMS
from tests.lab.auditing.broken_mechanisms.parts import SampledClaim
from tests.lab.rehearsal.families import FAMILIES
from tests.lab.rehearsal.injected_bugs import INJECTED_BUGS


def test_the_tables_are_those_of_the_figures_kept():
    kept = json.loads(audit_page.KEPT.read_text(encoding="utf-8"))
    page = audit_page.PAGE.read_text(encoding="utf-8")
    assert audit_page.shown(page, kept) == page
    assert page.count(": begin -->") == len(audit_page.tables(kept))
    assert list(audit_page.WHAT) == list(FAMILIES)
    assert set(kept["power"]) == set(kept["false alarms"]) == set(FAMILIES)
    assert set(kept["injected"]) == set(INJECTED_BUGS)


def test_audits_of_several_files_are_added_up(tmp_path):
    row = {"family": "points", "epsilon": 0.4, "delta": 0.1, "audits": 100, "findings": 98, "runs": 100_000}
    printed = {"understated": 2.0, "error": 0.001, "families": [row]}
    for name in ("one.json", "other.json"):
        (tmp_path / name).write_text(json.dumps(printed))
        os.utime(tmp_path / name, (86_400, 86_400))
    found = audit_page.collected(sorted(tmp_path.iterdir()))
    sums = {"epsilon": 0.8, "delta": 0.1, "audits": 200, "findings": 196, "runs": 200_000, "date": "1970-01-02"}
    assert found == {"power": {"points": sums}}
    assert "| 196 of 200 | 1,000 | – | 1970-01-02 |" in audit_page.tables(found)["families"]
    honest = {**printed, "understated": 1.0}
    (tmp_path / "one.json").write_text(json.dumps(honest))
    assert set(audit_page.collected([tmp_path / "one.json"])) == {"false alarms"}


def test_the_page_lists_every_broken_mechanism():
    page = audit_page.PAGE.read_text(encoding="utf-8")
    for one in BROKEN_MECHANISMS.values():
        how = "running it" if isinstance(one.broken, SampledClaim) else "its definition"
        assert f"| {one.name} | {one.mistake} | {how} |" in page
