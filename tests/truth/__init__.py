"""Truth by definition: on worlds small enough to enumerate, every promise is checked against its own definition."""
