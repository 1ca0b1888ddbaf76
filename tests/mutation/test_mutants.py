import ast

from tests.cases import for_each
from tests.mutation.mutants import mutants_of

SOURCE = '''
"""Words."""
from x import y
__all__ = ["y"]
LIMIT: int = 3


class Thing:
    size: float = 1.5

    def grow(self, by: int = 1) -> int:
        """More words."""
        if by < 0 and self.open:
            raise ValueError(f"by is {by - 1}")
        self.size += up.add(by, LIMIT)
        notify(self)
        return -self.size if not by else max(by, 2)
'''


def test_each_mutant_changes_one_place_and_can_be_read():
    found = list(mutants_of(SOURCE))
    plain = ast.dump(ast.parse(SOURCE))
    assert len({mutant.source for mutant in found}) == len(found)
    assert all(ast.dump(ast.parse(mutant.source)) != plain for mutant in found)


@for_each(
    "words",
    [
        "line 5, module: 3 -> 4",
        "line 5, module: 3 -> 2",
        "line 9, Thing: 1.5 -> 2.5",
        "line 11, Thing.grow: 1 -> 2",
        "line 13, Thing.grow: by < 0 -> by <= 0",
        "line 13, Thing.grow: by < 0 -> by >= 0",
        "line 13, Thing.grow: by < 0 and self.open -> by < 0 or self.open",
        "line 13, Thing.grow: if by < 0 and self.open: -> if not (by < 0 and self.open):",
        "line 14, Thing.grow: raise ValueError(f'by is {by - 1}') -> pass",
        "line 15, Thing.grow: self.size += up.add(by, LIMIT) -> self.size -= up.add(by, LIMIT)",
        "line 15, Thing.grow: self.size += up.add(by, LIMIT) -> pass",
        "line 15, Thing.grow: up -> down",
        "line 15, Thing.grow: up.add(by, LIMIT) -> up.add(LIMIT, by)",
        "line 16, Thing.grow: notify(self) -> pass",
        "line 17, Thing.grow: -self.size -> self.size",
        "line 17, Thing.grow: not by -> by",
        "line 17, Thing.grow: max -> min",
    ],
)
def test_the_usual_breaks_are_there(words):
    assert words in {str(mutant) for mutant in mutants_of(SOURCE)}


def test_words_types_and_names_are_left_alone():
    lines = {mutant.line for mutant in mutants_of(SOURCE)}
    assert lines == {5, 9, 11, 13, 14, 15, 16, 17}
    assert not any(ast.unparse(mutant.before) == "by - 1" for mutant in mutants_of(SOURCE))
