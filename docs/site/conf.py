"""The site that `make site` builds from the pages of this folder; it opens offline and on any host."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VERSION_FILE = ROOT / "src/crowdblend/trusted/machine/version.py"
VERSION = re.search(r'^__version__ = "(.+)"', VERSION_FILE.read_text(encoding="utf-8"), re.MULTILINE)

project = "crowdblend"
author = "the crowdblend authors"
release = version = VERSION.group(1) if VERSION else ""

extensions = ["myst_nb", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# Notebooks are executed by docs/notebooks/execute.py and compared with their outputs in the tests.
nb_execution_mode = "off"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# A prime stays a prime in proofs.
smartquotes = False
exclude_patterns = ["site/*", "**/.ipynb_checkpoints"]
# Links to files of the repository, which the site does not hold, are listed by the tests instead.
suppress_warnings: list[str] = []

html_theme = "furo"
html_title = f"crowdblend {release}"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_last_updated_fmt = None
html_theme_options = {"navigation_with_keys": True}
