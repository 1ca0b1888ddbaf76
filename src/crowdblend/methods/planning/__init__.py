"""Cost and accuracy of a release, before any data are touched."""
