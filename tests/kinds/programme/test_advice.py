"""What a plan says would err less, with the number: as large as in releases of made-up people."""

import numpy as np

import crowdblend as cb
from crowdblend.kinds import plan
from crowdblend.kinds.programme.plan import with_other_splits
from crowdblend.kinds.programme.programme import ProgrammePlan
from crowdblend.kinds.table.plan import TablePlan
from crowdblend.methods.planning.designs import noise_costs, register_costs

COLUMNS = {"sex": cb.values("f", "m"), "age": cb.intervals(0, 120, width=10)}


def policy(*publish: cb.Table, sampling=None) -> cb.Policy:
    terms = {"person": "id", "sampling": sampling or cb.Poisson(0.5), "epsilon": 1.0, "delta": 1e-6}
    return cb.Policy(**terms, columns=COLUMNS, publish=publish[0] if len(publish) == 1 else list(publish))


def compared(made: cb.Policy) -> list[str]:
    return [how for what, how in plan(made).describe() if what == "compared"]


def test_a_table_of_a_sample_names_noise_and_a_register():
    assert compared(policy(cb.Table())) == [noise_costs(0.5, 35, 1.0, 1e-6), register_costs(0.5, 1.0)]
    assert compared(policy(cb.Table(below_k="noise"))) == [register_costs(0.5, 1.0)]
    assert compared(policy(cb.Table(), sampling=cb.Coins(0.5))) == [noise_costs(0.5, 35, 1.0, 1e-6)]
    assert compared(policy(cb.Table("sex", name="a"), cb.Table("age", name="b"))) == []


def test_the_error_that_is_named_is_that_of_releases():
    """The largest but 5 in 100 of 20,000 has a standard error of less than one percent."""
    noisy = plan(policy(cb.Table(below_k="noise")))
    assert isinstance(noisy, TablePlan)
    loss, random = noisy.mechanisms[0].law.widest_loss, np.random.default_rng(8)
    noise = sum(sign * random.geometric(1 - np.exp(-loss), (20_000, 100)).sum(axis=1) for sign in (1, -1))
    off = np.quantile(np.abs((random.binomial(3_500, 0.5, 20_000) + noise) / 0.5 - 3_500), 0.95)
    named = float(noise_costs(0.5, 35, 1.0, 1e-6).partition("off by up to ")[2].split()[0])
    assert abs(named / off - 1) < 0.03


def test_several_suppressed_tables_name_noise_under_one_budget():
    made = plan(policy(cb.Table("sex", name="a"), cb.Table("age", name="b")))
    assert isinstance(made, ProgrammePlan)
    said = with_other_splits(made).others["budget"]
    assert said.startswith('with `publish.below_k = "noise"` it would publish a cell of 100 in ')
    assert 15 < float(said.partition("± ")[2].partition(",")[0]) < 40
