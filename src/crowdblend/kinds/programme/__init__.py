"""Several publications under one budget: parts of one sample, fresh samples, or shares of the budget."""
