"""`python -m crowdblend` is the command line."""

from crowdblend.cli.process import run

run()
