"""Merged only when needed: a recoder that merges no more than it must says what it saw (LQS 3.1)."""

from __future__ import annotations

import numpy as np

from crowdblend.lab.attacks.ours import our_table
from crowdblend.lab.attacks.targets import mondrian
from crowdblend.lab.attacks.trial import Attack, Trial, certain
from crowdblend.trusted.guarantees.privacy import Relation

K = 20
HEPATITIS, FLU = 0, 1
# This many cases of hepatitis and of the flu: k − 1 of each are known, and the patient is one of either.
TWENTY, NINETEEN = (K, K), (K - 1, K + 1)


def trials(runs: int) -> tuple[Trial, ...]:
    """Return local recoding, and our table: its classes are fixed, and never merged because of one person."""

    def stands_apart(sick: bool) -> bool:
        diagnoses = np.repeat([HEPATITIS, FLU], TWENTY if sick else NINETEEN).astype(np.int64)
        return any(ranges == ((HEPATITIS, HEPATITIS),) for ranges, _ in mondrian(diagnoses.reshape(-1, 1), K))

    ours = our_table().shows(runs, 0, TWENTY, NINETEEN, Relation.REPLACE)
    return certain("Mondrian, k = 20", stands_apart), ours


ATTACK = Attack(
    name="minimality",
    title="Merged only when needed",
    source="LQS 3.1",
    story="A clinic publishes diagnoses and merges two of them only when one has fewer than 20 patients, to keep as "
    "much detail as it can. You know of nineteen patients with hepatitis, and wonder about a twentieth person, who "
    "is in the table for certain. If hepatitis stands by itself in the publication, there were twenty, and that "
    "person is one of them. If it is merged with the flu, there were not. Either way every group has its twenty "
    "rows, and either way you know: the recoding was chosen by looking at the person.",
    event="hepatitis is published as a group of its own",
    question="How often does hepatitis stand apart in the table?",
    worlds=("the patient has hepatitis", "has the flu"),
    trials=trials,
    guarantee=lambda: our_table().bound(Relation.REPLACE),
    remark="Both tables have the same number of rows, and every group in either has at least 20.",
)
