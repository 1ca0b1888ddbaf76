"""The tests' own instruments must be able to say no."""

import numpy as np

from .goodness import fits, fits_share, fits_whole_numbers


def test_a_true_law_fits():
    assert fits([100_050, 99_950], [0.5, 0.5])
    assert fits_share(100_050, 200_000, 0.5)


def test_a_wrong_law_does_not():
    assert not fits([103_000, 97_000], [0.5, 0.5])
    assert not fits_share(103_000, 200_000, 0.5)


def test_a_missing_tail_is_seen():
    law = [0.5**i for i in range(1, 30)]
    values = np.repeat(np.arange(29), [int(2**22 * mass) for mass in law])
    assert fits_whole_numbers(values, law, 0)
    assert not fits_whole_numbers(np.minimum(values, 12), law, 0)
