"""Imports run one way between files too, those for type checkers included; none stands inside a function."""

import ast
from pathlib import Path

import grimp
import networkx as nx

SOURCE = Path(__file__).parents[1] / "src" / "crowdblend"


def test_no_files_import_each_other() -> None:
    graph = grimp.build_graph("crowdblend", cache_dir=None)
    arrows = [(module, other) for module in graph.modules for other in graph.find_modules_directly_imported_by(module)]
    assert len(arrows) > 1_000
    assert [circle for circle in nx.strongly_connected_components(nx.DiGraph(arrows)) if len(circle) > 1] == []


def test_imports_stand_at_the_top_of_a_file() -> None:
    inside = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert inside == []
