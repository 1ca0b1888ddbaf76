# ruff: noqa: T201
"""One year of a town's statistics: planned, published, read, checked, compared with the truth, and audited.

A script as a data scientist writes it. Type checkers in strict mode find nothing in it, without an assert or a cast.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import polars as pl

import crowdblend as cb
from crowdblend.lab.demo.population import write_population


def yearly_policy(epsilon: float = 2.0) -> cb.Policy:
    """Return what the town decided."""
    return cb.Policy(
        person="person_id",
        population="residents",
        sampling=cb.Everybody(),
        epsilon=epsilon,
        columns={"sex": cb.values("female", "male"), "age": cb.intervals(0, 120, width=20)},
        publish=[cb.Table("age", name="by_age"), cb.Table("sex", "age", name="by_sex")],
    )


def errors(done: cb.Release, truth: pl.DataFrame) -> Mapping[str, float]:
    """Return the largest error of each published table."""
    found: dict[str, float] = {}
    for name in done:
        estimates: pl.DataFrame = done[name].estimates()
        labels = [column for column in truth.columns if column in estimates.columns]
        both = estimates.join(truth.group_by(labels).len(), on=labels, how="left").fill_null(0)
        found[name] = max(abs(row["estimate"] - row["len"]) for row in both.to_dicts())
    return found


def main(folder: Path) -> None:
    """Publish a year and say what came of it."""
    write_population(folder / "people.parquet", people=2_000)
    people = pl.read_parquet(folder / "people.parquet")
    policy = yearly_policy()

    plan: cb.Plan = policy.plan()
    for name, text in plan.describe():
        print(f"{name:20} {text}")
    print(*(guarantee.words() for guarantee in plan.guarantees), sep="\n")
    print(f"{cb.check(people, policy).rows:,} rows, {cb.rehearse(policy, people=2_000, times=3, publication='by_age')}")

    ledger = cb.Ledger.create(folder / "ledger.db")
    done = cb.release(people, policy, out=folder / "2025", ledger=ledger)
    frame: pl.DataFrame = done["by_age"].data
    print(frame.head(), done["by_sex"].estimates(0.9, margin="sex"), errors(done, policy.recode(people)))
    (folder / "by_age.svg").write_text(done["by_age"].plot().svg, encoding="utf-8")

    read = cb.read(folder / "2025", frames="polars")
    for name in read:
        print(name, read[name].data, read[name].estimates(intervals=True))
    certificate = cb.verify(folder / "2025")
    if (strongest := certificate.differential()) is not None:
        print(f"ε = {strongest.epsilon:g}, δ = {strongest.delta:g}")
    print(*(f"{entry.id}: {entry.status}" for entry in ledger.entries()), ledger.total("residents").epsilon)

    print(cb.compose(done, yearly_policy(0.5).plan()).conclusion.words())
    rows: pl.DataFrame = done.synthesize(500, out=folder / "rows").data
    rows.write_csv(folder / "rows.csv")
    verdict = cb.audit(policy, publication="by_age", runs=2_000)
    print(verdict.describe() if verdict.finding else "No finding")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(made))
