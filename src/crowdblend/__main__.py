"""`python -m crowdblend` is the command line."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the working folder, whose files are data and no modules

from crowdblend.cli.process import run

run()
