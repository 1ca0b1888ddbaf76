"""Signed releases: signed when they appear or later, checked with a key, by us and by ssh-keygen."""

import json
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

import crowdblend as cb
from crowdblend.errors import DoesNotVerify, InvalidInput
from crowdblend.ledger import Ledger
from crowdblend.publishing.staging import Staging
from tests.commands import crowdblend
from tests.ledger.test_populations import write
from tests.trusted.signatures.keys import new_key


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    Ledger.create(tmp_path / "ledger.sqlite")
    return write(tmp_path, "people", range(600), "residents")


def release(policy: Path, *more: object) -> int:
    at = ("--ledger", policy.with_name("ledger.sqlite"), "--yes", "--out", policy.with_name("out"))
    return crowdblend("release", policy, *at, *more).returncode


def test_a_release_is_signed_when_it_appears(policy: Path, tmp_path: Path) -> None:
    private, public = new_key(tmp_path)
    assert release(policy, "--sign", private) == 0
    done = crowdblend("verify", tmp_path / "out", "--signer", public)
    assert done.returncode == 0
    assert "signed by  steward (SHA256:" in done.stdout
    assert "not covered" not in done.stdout
    told = json.loads(crowdblend("verify", tmp_path / "out", "--signer", public, "--json").stdout)
    assert told["signed_by"]["name"] == "steward"
    if shutil.which("ssh-keygen"):
        allowed = tmp_path / "allowed_signers"
        allowed.write_text(f"office {public.read_text()}")
        command = ["ssh-keygen", "-Y", "verify", "-f", allowed, "-I", "office", "-n", "crowdblend-certificate", "-s",
                   tmp_path / "out" / "certificate.json.sig"]  # fmt: skip
        certificate = (tmp_path / "out" / "certificate.json").read_bytes()
        assert subprocess.run(command, input=certificate, capture_output=True, check=False).returncode == 0


def test_a_key_with_a_passphrase(policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong passphrase spends nothing; the right one is asked for once, before anything is read."""
    private, public = new_key(tmp_path, passphrase="open sesame")
    asked: list[str] = []
    for answer in ("wrong", "open sesame"):
        monkeypatch.setattr("crowdblend.cli.sign.ask_passphrase", lambda said=answer: asked.append(said) or said)
        assert release(policy, "--sign", private) == (1 if answer == "wrong" else 0)
        assert len(Ledger.open(tmp_path / "ledger.sqlite").entries()) == (0 if answer == "wrong" else 1)
    assert asked == ["wrong", "open sesame"]
    assert crowdblend("verify", tmp_path / "out", "--signer", public).returncode == 0


def test_a_key_that_cannot_be_used_spends_nothing(policy: Path, tmp_path: Path) -> None:
    assert release(policy, "--sign", tmp_path / "missing") == 2
    assert Ledger.open(tmp_path / "ledger.sqlite").entries() == ()


def test_what_was_begun_to_be_signed_is_signed_when_it_is_resumed(
    policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, public = new_key(tmp_path)
    with monkeypatch.context() as killed:  # a release that is killed tidies nothing up
        killed.setattr(Staging, "discard", lambda _: None)
        killed.setattr("crowdblend.publishing.steps.describe", lambda *_, **__: 1 / 0)
        assert release(policy, "--sign", private) == 6, "recorded and not published"
    resume = ("ledger", "resume", "1", policy, "--ledger", tmp_path / "ledger.sqlite")
    unsigned = crowdblend(*resume, "--json")
    assert (unsigned.returncode, json.loads(unsigned.stdout)["error"]["code"]) == (2, "signature-needed")
    assert crowdblend(*resume, "--sign", private).returncode == 0
    assert crowdblend("verify", tmp_path / "out", "--signer", public).returncode == 0


def test_it_is_signed_later(policy: Path, tmp_path: Path) -> None:
    private, public = new_key(tmp_path)
    assert release(policy) == 0
    unsigned = crowdblend("verify", tmp_path / "out", "--signer", public)
    assert (unsigned.returncode, "not signed" in unsigned.stderr) == (1, True)
    assert crowdblend("sign", tmp_path / "out", "--key", private).returncode == 0
    assert crowdblend("sign", tmp_path / "out", "--key", private).returncode == 2
    assert crowdblend("verify", tmp_path / "out", "--signer", public).returncode == 0
    assert crowdblend("verify", tmp_path / "out" / "certificate.json", "--signer", public).returncode == 0


def test_a_folder_that_does_not_verify_is_not_signed(policy: Path, tmp_path: Path) -> None:
    private, _ = new_key(tmp_path)
    assert release(policy) == 0
    (tmp_path / "out" / "README.md").write_text("edited")
    assert crowdblend("sign", tmp_path / "out", "--key", private).returncode == 1
    assert not (tmp_path / "out" / "certificate.json.sig").exists()
    assert crowdblend("sign", tmp_path / "nothing", "--key", private).returncode == 2


def test_in_python(policy: Path, tmp_path: Path) -> None:
    private, public = new_key(tmp_path)
    frame = pd.read_csv(tmp_path / "people.csv")
    done = cb.release(frame, policy, out=tmp_path / "out", ledger=tmp_path / "ledger.sqlite")
    with pytest.raises(DoesNotVerify):
        cb.verify(done, signer=public)
    assert done.sign(private) == tmp_path / "out" / "certificate.json.sig"
    assert cb.verify(done, signer=public) == cb.verify(tmp_path / "out", signer=public) == done.certificate
    assert cb.sign(tmp_path / "out", private, force=True)
    with pytest.raises(InvalidInput):
        cb.verify(done.certificate, signer=public)
    in_memory = cb.release(frame, policy, ledger=None)
    with pytest.raises(InvalidInput):
        in_memory.sign(private)
