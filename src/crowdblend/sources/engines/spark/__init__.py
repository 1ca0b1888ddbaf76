"""The engine on Apache Spark."""
