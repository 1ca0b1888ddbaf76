"""The page of speed shows the figures that were measured, for every piece of work that the bench knows."""

import json

from bench import release_page, release_work


def test_the_tables_are_those_of_the_figures_kept():
    kept = json.loads(release_page.KEPT.read_text(encoding="utf-8"))
    page = release_page.PAGE.read_text(encoding="utf-8")
    assert page.partition(release_page.BEGIN)[2].partition(release_page.END)[0] == "\n" + release_page.tables(kept)
    for own in kept.values():
        assert set(own) <= set(release_work.WORK), "figures of work that the bench no longer knows"
