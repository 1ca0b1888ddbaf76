"""Statistics of a network, each with noise on a grid."""
