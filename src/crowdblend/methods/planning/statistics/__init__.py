"""Plans for statistics: which noise every total gets, how far off it may be, and what all of them guarantee."""
