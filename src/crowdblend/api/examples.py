"""One example for every public name, for docstrings and docs/api.md: one session that begins in help(crowdblend)."""

EXAMPLES = {
    "audit": """
>>> cb.audit(policy, runs=1_000, batch=True).finding    # so few runs find gross mistakes only
False
""",
    "average": """
>>> published(cb.average("income", where={"sex": "female"}), sex=sex, income=income)
['statistic', 'value', 'error']
""",
    "axis": """
>>> cb.axis(-10, 10, resolution=0.05, width=2).width
2
""",
    "bounds": """
>>> cb.bounds(0, 200_000, resolution=100, outside="clamp").resolution
100
""",
    "breaks": """
>>> len(cb.breaks(0, 25_000, 50_000, 100_000, top=True).breaks)
4
""",
    "check": """
>>> cb.check(people, policy)                            # no value and no count; describe() shows them to you
Check(Every row of The Arrow table fits the policy. describe() shows values and counts, for you alone.)
""",
    "compose": """
>>> cb.compose(done, cb.plan(rate=0.1, epsilon=1.0, delta=1e-6)).conclusion.epsilon
2.0
""",
    "count": """
>>> published(cb.count({"sex": "male"}, name="men"), sex=sex)
['statistic', 'value', 'error']
""",
    "date": """
>>> cb.date("month", "2000-01-01", "2030-01-01").date
'month'
""",
    "fraction": """
>>> published(cb.fraction({"sex": ["female"]}, name="women"), sex=sex)
['statistic', 'value', 'error']
""",
    "hierarchy": """
>>> cb.hierarchy("education.csv", level=2).level        # the file is read with the policy
2
""",
    "histogram": """
>>> published(cb.histogram("sex"), sex=sex)
['statistic', 'sex', 'value', 'error']
""",
    "intervals": """
>>> cb.intervals(0, 120, width=[5, 10, 20]).width       # offered for a choice
(5, 10, 20)
""",
    "load_policy": """
>>> _ = policy.save(f"{folder}/policy.toml")
>>> cb.load_policy(f"{folder}/policy.toml") == policy
True
""",
    "median": """
>>> published(cb.median("income", by="sex"), sex=sex, income=income)
['statistic', 'sex', 'value', 'error', 'rank_error']
""",
    "plan": """
>>> cb.plan(rate=0.1, k=20, epsilon=0.5).delta
2.631783466225066e-11
>>> cb.plan(rate=0.5, epsilon=1.0, delta=1e-6).k
35
>>> cb.plan(rate=0.5, epsilon=1.0, delta=1e-6, parts=10).k
16
>>> cb.plan(rate=0.1, epsilon=1.0, delta=1e-6, releases=20).k
10
""",
    "prefix": """
>>> cb.prefix(3, missing="unknown").prefix
3
""",
    "propose": """
>>> found = cb.propose(people, labels=["sex"], epsilon=1.0, delta=1e-6, person="person_id",
...     out=f"{folder}/proposal", ledger=None)
>>> sorted(found.columns["sex"].values), found.columns["sex"].other
(['female', 'male'], 'other')
""",
    "quantile": """
>>> published(cb.quantile("income", 0.9), income=income)
['statistic', 'value', 'error', 'rank_error']
""",
    "read": """
>>> cb.read(f"{folder}/published").domain["sex"]
('female', 'male')
""",
    "rehearse": """
>>> cb.rehearse(policy, people=500, times=2).files[0].cells
6
""",
    "release": """
>>> cb.release(people, policy, ledger=None).data.column_names
['sex', 'age', 'sampled', 'estimate', 'low', 'high']
""",
    "resume": """
>>> try:                                                # nothing was begun there
...     cb.resume(1, people, policy, ledger=f"{folder}/none.db")
... except cb.InvalidInput as error:
...     print(error.code)
ledger.missing
""",
    "sample_and_sanitize": """
>>> import opendp.prelude as dp
>>> dp.enable_features("contrib")
>>> rows = dp.vector_domain(dp.atom_domain(bounds=(0, 1))), dp.symmetric_distance()
>>> noisy_sum = rows >> dp.t.then_sum() >> dp.m.then_laplace(scale=2.0)
>>> cb.sample_and_sanitize([0, 1] * 5000, k=500, measurement=noisy_sum).certificate.guarantees[0].epsilon
0.08242211287901113
""",
    "sign": """
>>> import subprocess
>>> _ = subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/id"], check=True)
>>> cb.sign(f"{folder}/published", f"{folder}/id").name
'certificate.json.sig'
""",
    "synthesize": """
>>> cb.synthesize(f"{folder}/published", rows=100).data.column_names
['sex', 'age']
""",
    "total": """
>>> published(cb.total("income", weight=2), income=income)
['statistic', 'value', 'error']
""",
    "values": """
>>> cb.values("Female", "Male", other="Other").values
('Female', 'Male')
""",
    "verify": """
>>> cb.verify(f"{folder}/published") == done.certificate
True
""",
    "About": """
>>> policy.replace(about=cb.About(title="Residents", publisher="Town")).about.title
'Residents'
""",
    "Biased": """
>>> policy.replace(sampling=cb.Biased(0.08, 0.12, exceptions=2, max_rate=0.12, rate=0.1)).plan().k
14
""",
    "Certificate": """
>>> certificate: cb.Certificate = done.certificate
>>> certificate.differential().epsilon
1.0
""",
    "Choosing": """
>>> chosen = policy.replace(
...     columns={"sex": sex, "age": cb.intervals(0, 120, width=[20, 40])},
...     recoding=cb.Choosing(epsilon=0.1, using="population"))
>>> chosen.plan().guarantees[0].epsilon
1.0
""",
    "Coins": """
>>> policy.replace(sampling=cb.Coins(0.1)).plan().k
8
""",
    "CrowdblendError": """
>>> try:
...     policy.replace(epsilon=50.0).plan()
... except cb.CrowdblendError as error:
...     print(error.code, "-", error.where)
plan.epsilon - epsilon
""",
    "DoesNotCompose": """
>>> issubclass(cb.DoesNotCompose, cb.CrowdblendError)
True
""",
    "DoesNotVerify": """
>>> try:
...     cb.verify(done.certificate.to_json().replace('"rate": 0.5', '"rate": 0.4'))
... except cb.DoesNotVerify as error:
...     print(error.exit_code)
1
""",
    "Everybody": """
>>> everybody = cb.Policy(person="id", sampling=cb.Everybody(), epsilon=1.0, columns={"sex": sex}, publish=cb.Table())
>>> everybody.plan().guarantees[0].delta
0.0
""",
    "Graph": """
>>> links = cb.Graph(cb.GraphStatistic(name="connectivity", samples=1_000), people=50_000, degree_bound=50)
>>> cb.Policy(epsilon=1.5, publish=links).kind
'graph'
""",
    "GraphStatistic": """
>>> cb.GraphStatistic(name="average-degree", error=1.0).label
'average-degree'
""",
    "Infeasible": """
>>> try:
...     cb.plan(rate=0.1, k=3, delta=1e-6)
... except cb.Infeasible as error:
...     print(error.remedy)
Raise k or delta, or lower the rate.
""",
    "InvalidInput": """
>>> try:
...     cb.plan(rate=1.2, k=20, epsilon=1.0)
... except cb.InvalidInput as error:
...     print(error.remedy)
Pass the share of people kept, for example 0.1.
""",
    "Ledger": """
>>> warnings.simplefilter("ignore")                     # a new ledger triggers a warning
>>> ledger = cb.Ledger(f"{folder}/office.db")
>>> named = policy.replace(population="residents")
>>> _ = cb.release(people, named, ledger=ledger), cb.release(people, named, ledger=ledger)
>>> ledger.budget("residents").differential.epsilon
2.0
""",
    "Microdata": """
>>> policy.replace(publish=cb.Microdata("sex", "age", k=40)).plan().k
40
""",
    "NamedBox": """
>>> cb.NamedBox(name="centre", box={"east": (0, 1), "north": (0, 1)}).name
'centre'
""",
    "OutlierTable": """
>>> cb.Policy(person="id", epsilon=0.4, delta=1e-6, columns={"sex": sex}, publish=cb.OutlierTable(limit=100)).kind
'outlier-table'
""",
    "Plan": """
>>> plan: cb.Plan = policy.plan()
>>> len(plan.assumptions) > 3
True
""",
    "Points": """
>>> axes = {name: cb.axis(-10, 10, resolution=0.05, width=4) for name in ("east", "north")}
>>> points = cb.Points("east", "north", noise_epsilon=1.0, keep_in="block")
>>> cb.Policy(person="person_id", sampling=cb.Poisson(0.1), epsilon=1.0, delta=1e-6, columns=axes, publish=points).kind
'points'
""",
    "Poisson": """
>>> policy.replace(sampling=cb.Poisson(0.1)).plan().k
8
""",
    "Policy": """
>>> residents = cb.Policy(
...     person="person_id", sampling=cb.Poisson(0.5), epsilon=1.0, delta=1e-6,
...     columns={"sex": cb.values("female", "male"), "age": cb.intervals(0, 120, width=40)},
...     publish=cb.Table("sex", "age"))
>>> residents.kind, residents.plan().k
('table', 35)
>>> residents.replace(sampling=cb.Poisson(0.1)).plan().k
8
>>> residents.recode(people).column_names                  # with the labels of the release, to compare with
['sex', 'age']
""",
    "Proposal": """
>>> isinstance(found, cb.Proposal)
True
>>> print(found.describe()[0])
sex: 2 labels that many people share, and 'other' for all others.
""",
    "PublishedRelease": """
>>> release: cb.PublishedRelease = cb.read(f"{folder}/published")
>>> release.estimates(margin=["sex"]).column_names
['sex', 'sampled', 'unpublished_cells', 'estimate', 'low', 'high']
""",
    "QuadtreeRegion": """
>>> cb.QuadtreeRegion(box={"east": (0, 1), "north": (0, 1)}, depth=4).depth
4
""",
    "Release": """
>>> release: cb.Release = done
>>> release.folder.name, list(release.tables)
('published', ['data'])
>>> done["data"].estimates().column_names == done.estimates().column_names, done.plot().caption.split()[0]
(True, 'People')
""",
    "Statistic": """
>>> cb.Statistic(name="incomes", median="income", by=("sex",)).name
'incomes'
""",
    "Statistics": """
>>> tenths = incomes.replace(publish=cb.Statistics(*(cb.quantile("income", at) for at in (0.1, 0.9)), by="sex"))
>>> cb.release(people, tenths, ledger=None).data.column_names
['statistic', 'sex', 'value', 'error', 'rank_error']
""",
    "Strata": """
>>> rates = {"female": 0.05, "male": 0.1}
>>> planned = policy.replace(sampling=cb.Strata("sex", rates)).plan()
>>> {label: one.k for label, one in planned.parameters.strata.items()}
{'female': 6, 'male': 8}
""",
    "Survey": """
>>> policy.replace(sampling=cb.Survey(5_000, of=50_000, thin=0.8)).plan().k
58
""",
    "Synopsis": """
>>> synopsis = incomes.replace(
...     sampling=cb.Survey(1_500, of=2_000), people=None,
...     columns={"sex": sex, "age": age}, publish=cb.Synopsis(conjunctions=2))
>>> cb.release(people, synopsis, ledger=None).data.column_names
['sex', 'age']
""",
    "Synthetic": """
>>> rows = policy.replace(
...     sampling=cb.Everybody(), columns={"sex": sex, "age": age, "employed": cb.values("yes", "no")},
...     publish=cb.Synthetic(rows=1_000, tables=["sex * age", "age * employed"]))
>>> list(rows.plan().facts().publications)
['synthetic', '01-sex-age', '02-age-employed']
""",
    "Table": """
>>> noisy = policy.replace(publish=cb.Table("sex", "age", below_k="noise"))
>>> cb.release(people, noisy, ledger=None).data.num_rows    # every cell is shown
6
""",
    "Weights": """
>>> weighted = policy.replace(
...     sampling=cb.Weights("weight"), columns={"weight": cb.breaks(100, 200, 400), "sex": sex}, publish=cb.Table())
>>> [one.k for one in weighted.plan().parameters.strata.values()]
[4, 4]
""",
}
