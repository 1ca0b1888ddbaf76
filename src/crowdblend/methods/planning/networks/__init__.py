"""Plan statistics of a network: how much noise, for which guarantee, relative to how many people."""
