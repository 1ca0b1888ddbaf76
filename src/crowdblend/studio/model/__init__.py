"""A policy in the making, as the studio's pages show and change it: choices, columns, what is missing, expectations."""
