"""Reports: a release folder explained on one self-contained page."""
