"""Modules that are imported at their first use."""

import subprocess
import sys


def test_a_lazy_module_is_imported_when_an_attribute_is_read() -> None:
    script = (
        "import sys\nfrom crowdblend.lazy import lazy\nwave = lazy('wave')\nassert 'wave' not in sys.modules\n"
        "wave.open\nassert 'wave' in sys.modules\nassert wave.open is sys.modules['wave'].open"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
