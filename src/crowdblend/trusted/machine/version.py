"""The version of crowdblend, the only place where it is written; see the semantic versioning in CONTRIBUTING.md."""

__version__ = "0.1.0"
