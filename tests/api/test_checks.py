"""`verify` and `compose` take whatever holds a certificate; networks come from networkx too."""

import json
from pathlib import Path
from typing import Any

import networkx
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.lab.demo import friendships
from tests.api.survey import KEY, survey, table


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cb.release(survey(), table(), ledger=None, key=KEY).save(tmp_path_factory.mktemp("door") / "published")


def test_verify_takes_anything(folder: Path) -> None:
    file = folder / "certificate.json"
    text = file.read_text(encoding="utf-8")
    certificate = cb.verify(text)
    holders: list[Any] = [
        folder,
        str(folder),
        file,
        str(file),
        text,
        "\n" + text,
        certificate,
        cb.read(folder).certificate,
    ]
    for held in holders:
        assert cb.verify(held) == certificate


def test_verify_looks_at_the_data_of_a_folder(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    (copy / "data.parquet").write_bytes((folder / "data.parquet").read_bytes() + b" ")
    cb.verify(copy / "certificate.json")
    with pytest.raises(DoesNotVerify):
        cb.verify(copy)


def test_an_edited_release_in_memory_does_not_verify() -> None:
    done = cb.release(survey(), table(), ledger=None, key=KEY)
    assert done.files is not None
    edited = json.loads(done.files["certificate.json"])
    edited["guarantees"][0]["epsilon"] = 0.1
    files = {**done.files, "certificate.json": json.dumps(edited).encode()}
    with pytest.raises(DoesNotVerify):
        cb.verify(cb.Release(done.certificate, None, None, files))


def test_compose_adds_up_what_can_be_added(folder: Path) -> None:
    planned = cb.plan(rate=0.5, epsilon=1.0, delta=1e-6)
    certificate = planned.certificate()
    derivation = certificate.derivations[1]
    both = cb.compose(folder, planned, certificate, derivation)
    assert both.conclusion.epsilon == 4.0  # type: ignore[attr-defined]
    assert cb.compose(folder).conclusion == cb.verify(folder).differential()
    with pytest.raises(InvalidInput):
        cb.compose(7)


def test_a_networkx_graph_is_its_links() -> None:
    links = friendships(400, most=6)
    graph = networkx.Graph(zip(links["source"].to_pylist(), links["target"].to_pylist(), strict=True))
    asked = cb.GraphStatistic(name="average-degree", samples=200)
    policy = cb.Policy(epsilon=8.0, publish=cb.Graph(asked, people=400, degree_bound=6))
    done = cb.release(graph, policy, ledger=None, key=KEY)
    assert done.data.num_rows == 1
    assert cb.verify(done) == done.certificate
    with pytest.raises(InvalidInput):
        cb.release(graph.to_directed(), policy, ledger=None)
