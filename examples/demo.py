"""A worked example: plan a survey's release, certify the plan, and check the certificate as a stranger would."""

from __future__ import annotations

import sys
from pathlib import Path

from crowdblend import plan, verify
from crowdblend.figures import Axis, line_chart, save
from crowdblend.planning import sweep

say = sys.stdout.write
out = Path("out/demo")
out.mkdir(parents=True, exist_ok=True)

say("A survey kept each resident with probability 0.1 and wants to publish a table with exact counts.\n")
say("How large must a group be before its count may be shown, at epsilon = 1 and delta = 1e-6?\n\n")
planned = plan(rate=0.1, epsilon=1.0, delta=1e-6)
for theorem, k in planned.bounds.items():
    say(f"  {theorem:<10} crowds of at least {k}\n")

say(f"\nSo {planned.k} people suffice. The certificate says what that promises:\n\n")
certificate = out / "certificate.json"
certificate.write_text(planned.certificate().to_json(), encoding="utf-8")
for guarantee in verify(certificate.read_text(encoding="utf-8")).guarantees:
    say(f"  - {guarantee.words()}\n")

curve = sweep(planned.question, "epsilon", [0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0])
rows = [
    {"epsilon": row["epsilon"], "k": row[rule], "theorem": rule}
    for row in curve.rows
    for rule in curve.rules
    if row[rule] is not None
]
figure = out / "crowd-size.svg"
chart = line_chart(
    rows,
    x=Axis("epsilon", "epsilon"),
    y=Axis("k", "smallest crowd k"),
    series="theorem",
    title="The crowd that a promise needs (rate 0.1, delta 1e-6)",
)
save(chart, figure, force=True)
say(f"\nVerified: every number was derived again from the leaves.\nCertificate: {certificate}\nFigure: {figure}\n")
