"""Modules that are imported at their first use."""

import subprocess
import sys
import threading
from typing import Any

from crowdblend.trusted.machine.lazy import lazy_imports

SCRIPT = """
import sys
from crowdblend.trusted.machine.lazy import lazy_imports
with lazy_imports():
    import wave as sound
    from xml.dom import minidom
    from email.message import NoModuleButForAnnotations
import json.tool
assert not {"wave", "xml", "xml.dom.minidom", "email"} & set(sys.modules), sys.modules
assert sound.open is sys.modules["wave"].open
assert minidom.parse is sys.modules["xml.dom.minidom"].parse
"""


def test_a_lazy_module_is_imported_when_an_attribute_is_read() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)


def test_other_threads_import_as_usual() -> None:
    found: list[object] = []

    def load() -> None:
        names: dict[str, Any] = {}
        exec("from fractions import Fraction", names)
        found.append(names["Fraction"](1, 2) + 1 > 1)

    with lazy_imports():
        other = threading.Thread(target=load)
        other.start()
        other.join()
    assert found == [True]
