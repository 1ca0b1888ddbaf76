"""The Python block of the design, and what else is promised to whoever programs."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

BLOCK = """
import crowdblend as cb
policy = cb.Policy(
    person="person_id", population="residents",
    sampling=cb.Poisson(rate=0.5),                  # drawn here, each person by a coin
    epsilon=1.0, delta=1e-6,                        # releases=10: for ten years together
    columns={"sex": cb.values("Female", "Male"), "age": cb.intervals(0, 100, width=10), "zip": cb.prefix(3)},
    publish=cb.Table("sex", "age", "zip"),          # k left out: planned
)
policy.plan()                                       # k, guarantees, assumptions; shows itself in a notebook
policy.save("policy.toml"); assert cb.load_policy("policy.toml") == policy
done = cb.release(df, policy, out="published", ledger=cb.Ledger("ledger.db"))   # pandas | polars | pyarrow | path | DuckDB relation | Spark DataFrame
done.data, done.certificate, done.report            # ledger defaults to the user's own; ledger=None must be written out; out=None keeps it in memory
cb.verify("published")                              # folder | certificate file | JSON text | Certificate
found = cb.read("published")                        # for readers: found.data, found.domain, found.estimates(confidence=0.95), found.guarantees
cb.Ledger("ledger.db").budget("residents"); cb.plan(...); cb.compose(...); cb.audit(policy, runs=20_000)
"""  # noqa: E501

# The dots stand for arguments.
ARGUMENTS = {
    "cb.plan(...)": "planned = cb.plan(rate=0.5, epsilon=1.0, delta=1e-6)",
    "cb.compose(...)": 'both = cb.compose(done, planned.certificate(), "published")',
}


def frame(people: int = 12_000) -> pd.DataFrame:
    draw = np.random.default_rng(3)
    columns = {
        "person_id": np.arange(people),
        "sex": draw.choice(["Female", "Male"], people),
        "age": draw.integers(0, 100, people),
        "zip": draw.choice(["10115", "20095", "80331"], people),
    }
    return pd.DataFrame(columns)


@pytest.mark.parametrize("audited", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_block_runs_as_it_stands(audited: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit takes minutes, so that the daily tests only look at what it is asked."""
    monkeypatch.chdir(tmp_path)
    block = BLOCK
    asked: dict[str, Any] = {}
    if not audited:
        monkeypatch.setattr(
            "crowdblend.lab.auditing.statistical.outlook.audit_foreseen",
            lambda subject, **how: asked.update(how) or subject,
        )
    for dots, call in ARGUMENTS.items():
        assert dots in block
        block = block.replace(dots, call)
    block = block.replace("cb.audit(", "verdict = cb.audit(")
    block = block.replace('cb.Ledger("ledger.db").budget', 'budget = cb.Ledger("ledger.db").budget')
    names: dict[str, object] = {"df": frame()}
    with pytest.warns(UserWarning, match="No ledger at"):
        exec(block, names)
    done, verdict, budget = names["done"], names["verdict"], names["budget"]
    policy = names["policy"]
    assert policy.plan().k == 35  # type: ignore[attr-defined]
    assert (tmp_path / "published" / "certificate.json").is_file()
    assert len(done.data) == 60  # type: ignore[attr-defined]
    if audited:
        assert not verdict.finding  # type: ignore[attr-defined]
    else:
        asked.pop("announce")
        expected = {"runs": 20_000, "seconds": None, "error": 1e-3, "workers": 1, "progress": None}
        assert asked == expected
        assert verdict.policy.columns == policy.columns  # type: ignore[attr-defined]
    found: Any = names["found"]
    assert found.data.to_pandas().equals(done.data)  # type: ignore[attr-defined]
    assert found.estimates(confidence=0.95) is not None
    assert budget.releases == (1,)  # type: ignore[attr-defined]
    assert names["both"].conclusion.epsilon == 3.0  # type: ignore[attr-defined]
