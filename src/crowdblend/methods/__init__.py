"""Ways to draw, hide and estimate, which know no file and no policy."""
