"""A network's own numbers on a page for the steward: degrees and components, without noise and not for publication."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdblend.reports.charts import bars
from crowdblend.reports.html import Html, element, join, table
from crowdblend.reports.look import CSS

MOST_ROWS = 200


def network_page(internal: Mapping[str, Any]) -> str:
    """The page, as one HTML document that loads nothing."""
    warning = (
        "Internal. Everything on this page is exact and unpublished: how many people have how many links, and how "
        "large the components are. Showing it to others is a release without any guarantee."
    )
    exact = [
        [name, ", ".join(f"{value:.6g}" for value in values)]
        for name, values in internal["statistics_without_noise"].items()
    ]
    main = element(
        "main",
        element("header", element("p", "Internal page", class_="over"), element("h1", "The network itself")),
        element("div", element("p", element("b", "Do not publish. "), warning), class_="box warn"),
        element("h2", "Statistics without noise"),
        table(["statistic", "value"], exact, caption="Before rounding and noise", numbers=frozenset([1])),
        _distribution("People by their number of links", "links", "people", internal["people_by_degree"]),
        _distribution("Components by their size", "people in it", "components", internal["components_by_size"]),
    )
    head = [
        element("meta", charset="utf-8"),
        element("title", "Internal: the network itself"),
        element("style", Html(CSS)),
    ]
    return f"<!doctype html>\n{element('html', element('head', *head), element('body', main), lang='en')}\n"


def _distribution(heading: str, size_name: str, count_name: str, numbers: Mapping[str, int]) -> Html:
    """A figure by powers of two, and the numbers one by one."""
    rows = [[size, f"{count:,}"] for size, count in list(numbers.items())[:MOST_ROWS]]
    left = len(numbers) - len(rows)
    caption = f"{heading}{f'; {left:,} further rows are in the internal facts' if left > 0 else ''}"
    drawn = bars(_doubling(numbers), f"{heading}, by powers of two.")
    listed = table([size_name, count_name], rows, caption=caption, numbers=frozenset([0, 1]))
    return join(element("h2", heading), drawn, listed)


def _doubling(numbers: Mapping[str, int]) -> list[tuple[str, int]]:
    """0, 1, 2 to 3, 4 to 7 and so on."""
    binned: dict[int, int] = {}
    for size, count in numbers.items():
        binned[int(size).bit_length()] = binned.get(int(size).bit_length(), 0) + count
    return [
        (str(bits) if bits < 2 else f"{1 << bits - 1} to {(1 << bits) - 1}", binned[bits]) for bits in sorted(binned)
    ]
