"""Statistics: averages, sums, quantiles, shares, counts and histograms, each with the error that it stays within."""
