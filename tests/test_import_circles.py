"""Imports run one way between files too, those for type checkers included."""

import grimp
import networkx as nx


def test_no_files_import_each_other() -> None:
    graph = grimp.build_graph("crowdblend", cache_dir=None)
    arrows = [(module, other) for module in graph.modules for other in graph.find_modules_directly_imported_by(module)]
    assert len(arrows) > 1_000
    assert [circle for circle in nx.strongly_connected_components(nx.DiGraph(arrows)) if len(circle) > 1] == []
