"""Imports run one way between files too, those for type checkers included; what kinds use names no kind."""

import grimp
import networkx as nx


def test_no_files_import_each_other() -> None:
    graph = grimp.build_graph("crowdblend", cache_dir=None)
    arrows = [(module, other) for module in graph.modules for other in graph.find_modules_directly_imported_by(module)]
    assert len(arrows) > 1_000
    assert [circle for circle in nx.strongly_connected_components(nx.DiGraph(arrows)) if len(circle) > 1] == []


def test_programmes_and_what_kinds_share_name_no_kind() -> None:
    graph = grimp.build_graph("crowdblend", cache_dir=None)
    of_all = ("crowdblend.kinds.shared", "crowdblend.kinds.programme")
    theirs = [module for module in graph.modules if module.startswith(of_all)]
    imported = {other for module in theirs for other in graph.find_modules_directly_imported_by(module)}
    assert len(theirs) > 10
    assert [other for other in imported if other.startswith("crowdblend.kinds.") and not other.startswith(of_all)] == []
