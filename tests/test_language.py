"""The language of the source: names, docstrings and words; refusals with codes; imports at the top.

Kinds and designs are places of their own: no code looks up facts by text, or asks for a kind by its name.
"""

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import crowdblend
from crowdblend import errors
from crowdblend.policies.registry import KINDS
from tests.cases import for_each

SOURCE = Path(crowdblend.__file__).parent
REFUSALS = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
# Here every refusal has a code and a place of its own; the trusted base and charts name the parameter in their message.
STRUCTURED = (
    "api",
    "cli",
    "kinds",
    "ledger",
    "methods",
    "policies",
    "publishing",
    "reading",
    "sources",
    "studio",
    "trusted/randomness",
    "trusted/signatures",
)
REFRAINS = re.compile(
    r"must [^.\"]*, and (is|are|has|have|does|do)( not\b| none\b| other|\.)"
    r"|NOBODY_|Nobody wants|THEORY [0-9]|\bis not there\b"
)
RIDDLE = re.compile(r"(What|How|Whether|By what|By which|Of|So|That|Whoever|Why)\b")
# Words of docstrings and comments: dialect, archaisms and fillers. There is no baseline: none may occur.
WORDS = re.compile(
    r"\b(so many|whoever|whomever|somebody|anybody|known again|leaves the house|in peace|this very|these very|that very"
    r"|nobody wants|mistake of ours|front door|onlooker|tally|shelf|promised|complain|THEORY|whence|thereof|whereof"
    r"|wherein|therein|thereby|hereby|henceforth|hitherto|heretofore|aforesaid|forthwith|inasmuch|amongst|whilst|nought"
    r"|utilize|leverage|obviously|of course|basically|please note|whitelist|blacklist|sanity check|dummy)\b",
    re.IGNORECASE,
)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# The trusted base reads one fact, which files there are, before anybody knows the kind.
BEFORE_KINDS = {"trusted/calculus/checker.py", "cli/verify.py"}


@cache
def trees() -> dict[Path, ast.Module]:
    """Every file of the source, read when a test first asks: not where tests are only collected."""
    return {file.relative_to(SOURCE): ast.parse(file.read_text()) for file in sorted(SOURCE.rglob("*.py"))}


@cache
def _nodes_by_type() -> dict[type[ast.AST], list[tuple[Path, Any]]]:
    """Every node of every file, by its type: walking takes longer than looking at all of them."""
    found: dict[type[ast.AST], list[tuple[Path, Any]]] = defaultdict(list)
    for file, tree in trees().items():
        left: list[ast.AST] = [tree]
        while left:
            node = left.pop()
            found[type(node)].append((file, node))
            for value in vars(node).values():
                if isinstance(value, list):
                    left += [one for one in value if isinstance(one, ast.AST)]
                elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                    left.append(value)
    return found


def nodes(*types: type[ast.AST]) -> Iterator[tuple[Path, Any]]:
    """Yield every node of these types, with its file."""
    return chain.from_iterable(_nodes_by_type()[one] for one in types)


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield every docstring, with its place."""
    for file, node in nodes(*DEFINITIONS, ast.ClassDef, ast.Module):
        if text := ast.get_docstring(node):
            yield f"{file}:{getattr(node, 'lineno', 1)}", text


def docstrings_say_what_is_returned() -> None:
    assert [place for place, text in docstrings() if RIDDLE.match(text)] == []
    assert RIDDLE.match("What is kept.")
    assert not RIDDLE.match("Return what is kept.")


def docstrings_and_comments_use_plain_words() -> None:
    sources = {str(file): (SOURCE / file).read_text(encoding="utf-8") for file in trees()}
    sources = {file: source for file, source in sources.items() if WORDS.search(source)}  # most have none anywhere
    texts = [(place, text) for place, text in docstrings() if place.partition(":")[0] in sources]
    for file, source in sources.items():
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        texts += [(f"{file}:{one.start[0]}", one.string) for one in tokens if one.type == tokenize.COMMENT]
    assert texts
    assert [f"{place}: {found[0]}" for place, text in texts if (found := WORDS.search(text))] == []
    assert WORDS.search("# So many people.")


def refusals_have_a_code_and_a_place() -> None:
    bare = [
        f"{file}:{call.lineno}"
        for file, call in nodes(ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id in REFUSALS
        if file.as_posix().startswith(STRUCTURED)
        and not file.is_relative_to("reading/figures")
        and not {"code", "where"} <= {keyword.arg for keyword in call.keywords}
    ]
    assert bare == []


def imports_stand_at_the_top_of_a_file() -> None:
    functions = defaultdict[Path, list[Any]](list)
    for file, node in nodes(*DEFINITIONS):
        functions[file].append(node)
    inside = [
        f"{file}:{node.lineno}"
        for file, node in nodes(ast.Import, ast.ImportFrom)
        if node.col_offset > 0 and any(one.lineno <= node.lineno <= one.end_lineno for one in functions[file])
    ]
    assert inside == []


def a_code_is_words_in_lower_case() -> None:
    codes = [
        str(keyword.value.value)
        for _, call in nodes(ast.Call)
        for keyword in call.keywords
        if keyword.arg == "code" and isinstance(keyword.value, ast.Constant)
    ]
    assert len(codes) > 50
    assert [code for code in codes if not re.fullmatch(r"([a-z]+\.)?[a-z]+(-[a-z]+)*", code)] == []


def no_refrains() -> None:
    texts: dict[Path, list[str]] = {}
    for file, node in nodes(ast.JoinedStr, ast.Constant, ast.Name, ast.Attribute, ast.FunctionDef):
        if text := words(node):
            texts.setdefault(file, []).append(text)
    assert sum(map(len, texts.values())) > 20_000
    # No refrain goes beyond a quotation mark, so that none begins in one text and ends in the next.
    assert {file: found[0] for file, of_file in texts.items() if (found := REFRAINS.search('"'.join(of_file)))} == {}


def words(node: ast.AST) -> str:
    """A text or a name, as it is written."""
    match node:
        case ast.JoinedStr(parts):
            return "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in parts)
        case ast.Constant(str(text)) | ast.Name(text) | ast.Attribute(_, text) | ast.FunctionDef(text):
            return text
    return ""


def the_search_for_refrains_finds_them() -> None:
    assert words(ast.parse('f"{x} must " f"be, and is" " not."').body[0].value) == "{} must be, and is not."  # type: ignore[attr-defined]
    for sentence in ("x must be y, and is not.", "the data must have rows, and have none.", "Choosing is not there."):
        assert REFRAINS.search(sentence)


def everything_public_has_a_docstring() -> None:
    documented = {
        (owner.name, one.name)
        for owner in classes()
        for one in owner.body
        if isinstance(one, DEFINITIONS) and ast.get_docstring(one)
    }
    bases: dict[str, set[str]] = defaultdict(set)  # a design of policies and one of facts have one name
    for owner in classes():
        bases[owner.name] |= {base_name(base) for base in owner.bases}

    def inherits(owner: str, name: str) -> bool:
        return any((base, name) in documented or inherits(base, name) for base in bases.get(owner, ()) if base != owner)

    silent = [
        f"{file}:{one.lineno} {one.name}"
        for file, tree in trees().items()
        for owner, one in definitions(tree)
        if not ast.get_docstring(one) and not (owner and inherits(owner, one.name))
    ]
    assert silent == []


def classes() -> Iterator[ast.ClassDef]:
    """Every class of the source."""
    return (one for _, one in nodes(ast.ClassDef))


def base_name(base: ast.expr) -> str:
    """The name of a base class, without its module and parameters."""
    if isinstance(base, ast.Subscript):
        base = base.value
    return base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")


def definitions(
    tree: ast.Module | ast.ClassDef,
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    """What is public in a module or class, with the name of its class; overloads are described by what follows them."""
    for one in tree.body:
        if not isinstance(one, (*DEFINITIONS, ast.ClassDef)) or one.name.startswith("_"):
            continue
        if any(isinstance(mark, ast.Name) and mark.id == "overload" for mark in one.decorator_list):
            continue
        yield tree.name if isinstance(tree, ast.ClassDef) else "", one
        if isinstance(one, ast.ClassDef):
            yield from definitions(one)


def looks_up_facts(node: ast.AST) -> bool:
    """Whether it is facts["…"] or facts.get("…"), of whatever has facts."""
    if isinstance(node, ast.Subscript):
        found: ast.expr = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        found = node.func.value
    else:
        return False
    return (isinstance(found, ast.Attribute) and found.attr == "facts") or (
        isinstance(found, ast.Name) and found.id == "facts"
    )


def names_a_kind(node: ast.AST) -> bool:
    """Whether something is compared with the name of a kind."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    values = [
        one for side in sides for one in (side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side])
    ]
    named = any(isinstance(one, ast.Constant) and one.value in KINDS for one in values)
    return named and any("kind" in ast.unparse(side) for side in sides)


def nobody_looks_up_facts_by_text() -> None:
    assert {file.as_posix() for file, node in nodes(ast.Subscript, ast.Call) if looks_up_facts(node)} <= BEFORE_KINDS
    assert looks_up_facts(ast.parse('release.facts["k"]', mode="eval").body)
    assert looks_up_facts(ast.parse('facts.get("k")', mode="eval").body)


def nobody_compares_with_a_kind_s_name_outside_its_folder() -> None:
    found = {file.as_posix() for file, node in nodes(ast.Compare) if names_a_kind(node)}
    of_all = ("kinds/shared/", "kinds/programme/")
    outside = {file for file in found if not (file.startswith("kinds/") and file.count("/") > 1)}
    assert outside | {file for file in found if file.startswith(of_all)} == set()
    assert names_a_kind(ast.parse('policy.kind in ("table", "points")', mode="eval").body)


@for_each(
    "law",
    [
        docstrings_say_what_is_returned,
        docstrings_and_comments_use_plain_words,
        refusals_have_a_code_and_a_place,
        imports_stand_at_the_top_of_a_file,
        a_code_is_words_in_lower_case,
        no_refrains,
        the_search_for_refrains_finds_them,
        everything_public_has_a_docstring,
        nobody_looks_up_facts_by_text,
        nobody_compares_with_a_kind_s_name_outside_its_folder,
    ],
)
def test_the_language_of_the_source(law: Callable[[], None]) -> None:
    """One test, so that one process reads the source."""
    law()
