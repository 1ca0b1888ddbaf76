"""A made-up town to try everything on: nobody in it exists."""

from crowdblend.lab.demo.population import friendships, town, write_friendships, write_population

__all__ = ["friendships", "town", "write_friendships", "write_population"]
