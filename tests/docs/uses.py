"""Forty uses of the public names: mypy in strict mode accepts all of them, and each runs."""

import datetime
import os
from pathlib import Path

import crowdblend as cb
from crowdblend.demo import town

SEX = cb.values("female", "male")
AGE = cb.intervals(0, 120, width=20)
EDUCATION = cb.values("none", "school", "vocational", "bachelor", "master", "doctorate")


def survey() -> cb.Policy:
    return cb.Policy(
        person="person_id",
        population="residents",
        sampling=cb.Poisson(0.5),
        epsilon=1.0,
        delta=1e-6,
        columns={"sex": SEX, "age": AGE},
        publish=cb.Table("sex", "age"),
    )


def register() -> cb.Policy:
    return cb.Policy(
        person="person_id", sampling=cb.Everybody(), epsilon=1.0, columns={"sex": SEX}, publish=cb.Table("sex")
    )


def noise_below_k() -> cb.Policy:
    return survey().replace(publish=cb.Table("sex", "age", below_k="noise", flag=True, name="noisy"))


def microdata() -> cb.Policy:
    return survey().replace(publish=cb.Microdata("sex", "age", k=40))


def points() -> cb.Policy:
    return cb.Policy(
        person="person_id",
        sampling=cb.Poisson(rate=0.1, key="seal"),
        epsilon=1.0,
        delta=1e-6,
        columns={
            "east": cb.axis(-10, 10, resolution=0.05, width=4),
            "north": cb.axis(-10, 10, resolution=0.05, width=4),
        },
        publish=cb.Points("east", "north", noise_epsilon=1.0, keep_in="block", show_blocks=True),
    )


def points_in_boxes() -> cb.Points:
    return cb.Points("x", "y", boxes=[cb.NamedBox(name="centre", box={"x": (0, 1), "y": (0, 1)})])


def points_in_a_quadtree() -> cb.Points:
    return cb.Points("x", "y", quadtree=(cb.QuadtreeRegion(box={"x": (0, 1), "y": (0, 1)}, depth=4),))


def outlier_table() -> cb.Policy:
    return cb.Policy(
        person="person_id", epsilon=0.2, delta=1e-6, columns={"sex": SEX}, publish=cb.OutlierTable("sex", limit=100)
    )


def statistics() -> cb.Policy:
    return cb.Policy(
        person="person_id",
        sampling=cb.Survey(5_000, of=20_000),
        epsilon=1.0,
        columns={"sex": SEX, "age": AGE, "income": cb.bounds(0, 200_000, resolution=100, outside="clamp")},
        publish=cb.Statistics(
            cb.median("income"),
            cb.quantile("income", 0.9, name="top tenth", by=["sex"]),
            cb.average("income", where={"sex": "female"}),
            cb.total("income", weight=2),
            cb.fraction({"sex": ["female"], "age": ["[0, 20)", "[20, 40)"]}, name="young women"),
            cb.count({"sex": "male"}, name="men"),
            cb.histogram("age"),
            confidence=0.9,
        ),
    )


def statistics_by_name() -> cb.Statistics:
    return cb.Statistics(cb.Statistic(name="incomes", median="income", by=("sex",)), by="sex", group=4)


def statistics_to_an_error() -> cb.Policy:
    return cb.Policy(
        person="person_id",
        sampling=cb.Survey(of=1_000_000),
        epsilon=1.0,
        columns={"income": cb.bounds(0, 200_000, resolution=100)},
        publish=cb.Statistics(cb.average("income", error=2_000)),
    )


def synopsis() -> cb.Policy:
    return cb.Policy(
        person="person_id",
        sampling=cb.Survey(15_000, of=20_000),
        epsilon=2.0,
        columns={"sex": SEX, "education": EDUCATION},
        publish=cb.Synopsis("sex", "education", conjunctions=2, mechanism="fitted"),
    )


def synopsis_of_queries() -> cb.Synopsis:
    return cb.Synopsis(queries=[{"sex": "female"}, {"sex": "male", "education": "none"}], rows=1_000)


def network() -> cb.Policy:
    links = cb.Graph(cb.GraphStatistic(name="connectivity", samples=1_000), people=50_000, degree_bound=50)
    return cb.Policy(source="links.parquet", epsilon=1.5, publish=links)


def strata() -> cb.Policy:
    return cb.Policy(
        person="id",
        sampling=cb.Strata("region", {"north": 0.05, "south": 0.1}, already_drawn=True),
        epsilon=1.0,
        delta=1e-6,
        columns={"region": cb.values("north", "south"), "sex": SEX},
        publish=cb.Table("region", "sex"),
    )


def weights() -> cb.Policy:
    return cb.Policy(
        person="id",
        sampling=cb.Weights("weight"),
        epsilon=1.0,
        delta=1e-6,
        columns={"weight": cb.breaks(100, 200, 400), "sex": SEX},
        publish=cb.Table("weight", "sex"),
    )


def private_weights() -> cb.Weights:
    return cb.Weights("weight", low=0.01, high=0.02)


def coins() -> cb.Policy:
    return survey().replace(sampling=cb.Coins(0.1))


def biased() -> cb.Biased:
    return cb.Biased(0.08, 0.12, exceptions=2, max_rate=0.12, already_drawn=True)


def rows_of_a_person() -> cb.Policy:
    return cb.Policy(
        person="patient",
        rows_per_person=3,
        sampling=cb.Everybody(),
        epsilon=1.0,
        columns={"sex": SEX},
        publish=cb.Table("sex", count="people"),
    )


def rows_are_people() -> cb.Policy:
    return cb.Policy(
        rows_are_people=True,
        sampling=cb.Poisson(0.5),
        epsilon=1.0,
        delta=1e-6,
        columns={"sex": ["female", "male"]},
        publish=cb.Table(),
    )


def columns_by_themselves() -> cb.Policy:
    columns = {"sex": SEX, "age": AGE, "zip": cb.prefix(3)}
    return survey().replace(columns=columns, publish=cb.Table(*columns))


def dates_and_hierarchies() -> None:
    cb.date("month", "2000-01-01", datetime.date(2030, 1, 1), missing="unknown")
    cb.date(["day", "week", "month"], "2000-01-01", "2030-01-01")
    cb.hierarchy(Path("education.csv"), level=2)
    cb.hierarchy("jobs.csv", levels=[0, 2], weight=2.0)


def a_choice() -> cb.Policy:
    return survey().replace(
        columns={"sex": SEX, "age": cb.intervals(0, 120, width=[5, 10, 20])},
        recoding=cb.Choosing(epsilon=0.1, using="population", score="loss"),
    )


def for_readers() -> cb.Policy:
    about = cb.About(title="Residents", publisher="Town", licence="CC-BY-4.0", period="2025")
    return survey().replace(about=about, format="csv")


def every_year() -> cb.Policy:
    return survey().replace(releases=10, accept_delta=True)


def a_programme() -> cb.Policy:
    publications = [
        cb.Table("sex", "age", name="by_age", share=0.2),
        cb.Microdata("sex", "age", name="people", share=0.8),
    ]
    return survey().replace(publish=publications, split="people")


def a_table_of_a_database() -> cb.Policy:
    return survey().replace(source="postgresql://reader@db.example.org/registry", table="public.people")


def a_csv_file() -> cb.Policy:
    return survey().replace(source="people.csv", delimiter=";", encoding="cp1252", decimal=",", duplicates="one")


def planned() -> tuple[object, cb.Certificate]:
    plan: cb.Plan = cb.plan(rate=0.5, epsilon=1.0, delta=1e-6)
    return plan.k, plan.certificate()


def planned_policy() -> tuple[int | None, object]:
    plan: cb.Plan = survey().plan()
    return plan.k, plan.guarantees


def a_file() -> bool:
    survey().save("policy.toml", force=True)
    text: str = survey().to_toml()
    return cb.load_policy(Path("policy.toml")) == survey() and "[[publish]]" in text


def published() -> cb.Release:
    done = cb.release(town(2_000), survey(), ledger=None)
    where: os.PathLike[str] = done.save("published", force=True)
    assert cb.verify(where) == done.certificate
    assert done.report.html.startswith("<!doctype html>")
    assert list(done.tables) == ["data"]
    assert done.estimates(margin=["sex"]).num_rows == len(SEX.values)
    return done


def published_into_a_folder() -> Path | None:
    done = cb.release(town(2_000).to_pandas(), "policy.toml", out=Path("out"), ledger=cb.Ledger.create("ledger.db"))
    return done.folder


def recorded() -> float | None:
    total = cb.Ledger("ledger.db").budget("residents").differential
    return None if total is None else total.epsilon


def read() -> list[str]:
    release: cb.PublishedRelease = cb.read("published")
    estimates = release.estimates(confidence=0.99, margin=["sex"])
    return [*estimates.column_names, *release.domain, *release.notes()]


def verified() -> list[str]:
    certificate: cb.Certificate = cb.verify("published")
    return [guarantee.words() for guarantee in certificate.guarantees]


def composed() -> object:
    return cb.compose(cb.verify("published"), cb.plan(rate=0.1, k=20, epsilon=1.0)).conclusion


def rehearsed() -> str:
    return cb.rehearse(survey(), people=500, times=2).note


def refused() -> str:
    try:
        survey().replace(epsilon=50.0).plan()
    except cb.InvalidInput as error:
        return f"{error.code} {error.where} {error.remedy}"
    except (cb.Infeasible, cb.DoesNotVerify, cb.DoesNotCompose, cb.CrowdblendError) as error:
        return error.code
    return ""


# In this order: a file is written before it is read.
USES = [
    *(survey, register, noise_below_k, microdata, points, points_in_boxes, points_in_a_quadtree, outlier_table),
    *(statistics, statistics_by_name, statistics_to_an_error, synopsis, synopsis_of_queries, network),
    *(strata, weights, private_weights, coins, biased, rows_of_a_person, rows_are_people, columns_by_themselves),
    *(dates_and_hierarchies, a_choice, for_readers, every_year, a_programme, a_table_of_a_database, a_csv_file),
    *(planned, planned_policy, a_file, published, published_into_a_folder, recorded, read, verified, composed),
    *(rehearsed, refused),
]
