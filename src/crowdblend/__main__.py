"""`python -m crowdblend` is the command line."""

from crowdblend.cli.main import main

main()
