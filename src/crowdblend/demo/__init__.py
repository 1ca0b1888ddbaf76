"""A made-up town to try everything on."""

from crowdblend.demo.population import write_population

__all__ = ["write_population"]
