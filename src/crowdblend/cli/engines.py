"""The option that says which engine reads the data."""

import click

from crowdblend.sources.engines.choice import ENGINES

engine_option = click.option(
    "--engine", type=click.Choice(ENGINES), default="duckdb", show_default=True, help="What reads the data."
)
