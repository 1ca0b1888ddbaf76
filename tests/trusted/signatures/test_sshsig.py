"""Signatures in OpenSSH's format, both ways against ssh-keygen, and every edit found."""

import base64
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from crowdblend.errors import CrowdblendError, DoesNotVerify, InvalidInput, Refused, Unavailable
from crowdblend.trusted.signatures import files
from crowdblend.trusted.signatures.files import (
    check_file,
    check_signer,
    load_key,
    open_key,
    read_signers,
    sign_file,
    signature_file,
)
from crowdblend.trusted.signatures.sshsig import check, parse, sign
from tests.cases import for_each
from tests.trusted.signatures.keys import KINDS, new_key

needs_ssh_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
PURPOSE = "crowdblend-test"


@pytest.fixture
def message(tmp_path: Path) -> Path:
    path = tmp_path / "message.json"
    path.write_bytes(b'{"a": 1}\n' * 100)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_our_own_signature(kind: str, message: Path, tmp_path: Path) -> None:
    private, public = new_key(tmp_path, kind)
    sign_file(message, private, PURPOSE)
    assert check_file(message, public, PURPOSE).name == "steward"
    assert check_file(message, public.read_text(), PURPOSE).name == "steward"
    with pytest.raises(DoesNotVerify) as refused:
        check_file(message, public, "another-purpose")
    assert refused.value.code == "signature.namespace"
    message.write_bytes(message.read_bytes() + b" ")
    with pytest.raises(DoesNotVerify) as refused:
        check_file(message, public, PURPOSE)
    assert refused.value.code == "signature.wrong"


@needs_ssh_keygen
@pytest.mark.parametrize("kind", KINDS)
def test_ssh_keygen_checks_ours_and_we_check_its(kind: str, message: Path, tmp_path: Path) -> None:
    private, public = new_key(tmp_path, kind)
    sign_file(message, private, PURPOSE)
    allowed = tmp_path / "allowed_signers"
    allowed.write_text(f'# office\nann@example.org namespaces="crowdblend-*" {public.read_text()}')
    verify: list[str | Path] = [
        "ssh-keygen",
        "-Y",
        "verify",
        "-f",
        allowed,
        "-I",
        "ann@example.org",
        "-n",
        PURPOSE,
        "-s",
    ]
    done = subprocess.run(
        [*verify, signature_file(message)], input=message.read_bytes(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    signature_file(message).unlink()
    subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-f", private, "-n", PURPOSE, message], check=True, capture_output=True
    )
    assert check_file(message, public, PURPOSE).name == "steward"


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa256"])
def test_every_edited_byte_is_found(kind: str, tmp_path: Path) -> None:
    private, public = new_key(tmp_path, kind)
    key, signers = load_key(private), read_signers(public)
    lines = sign(b"message", key, PURPOSE).splitlines()
    whole = base64.b64decode("".join(lines[1:-1]))
    for at in range(len(whole)):
        edited = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        text = "\n".join([lines[0], base64.b64encode(edited).decode(), lines[-1]])
        with pytest.raises(DoesNotVerify):
            check_signer(b"message", parse(text), PURPOSE, signers)


def test_another_key_does_not_count(message: Path, tmp_path: Path) -> None:
    private, _ = new_key(tmp_path)
    (tmp_path / "other").mkdir()
    _, other = new_key(tmp_path / "other")
    sign_file(message, private, PURPOSE)
    with pytest.raises(DoesNotVerify) as refused:
        check_file(message, other, PURPOSE)
    assert refused.value.code == "signature.signer"


LINES = ["ann {key}", "{key}\nbob whatever", "ssh-ed25519 !!!!", 'valid-before="20200101" {key}', "sk-{key}"]


@for_each("line", [*LINES, "ssh-rsa {content}", "ecdsa-sha2-nistp256 {content} ann", "ssh-ed25519 AAAA"])
def test_a_line_that_is_no_public_key_is_refused(line: str, tmp_path: Path) -> None:
    """A file of allowed signers too: what it says of a key might be that it no longer counts."""
    _, public = new_key(tmp_path)
    keys = tmp_path / "keys"
    key = public.read_text().strip()
    keys.write_text(line.format(key=key, content=key.split()[1]), encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        read_signers(keys)
    assert refused.value.code == "key.format"


def test_any_of_several_keys_counts(message: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (_, other), (private, public) = new_key(tmp_path / "other"), new_key(tmp_path)
    sign_file(message, private, PURPOSE)
    keys = tmp_path / "keys"
    keys.write_text(f"{other.read_text().strip()}\n{public.read_text()}")
    assert check_file(message, keys, PURPOSE) == read_signers(public)[0]


def test_an_encrypted_key_asks_for_its_passphrase(message: Path, tmp_path: Path) -> None:
    private, public = new_key(tmp_path, passphrase="open sesame")
    with pytest.raises(InvalidInput, match="encrypted"):
        sign_file(message, private, PURPOSE)
    with pytest.raises(Refused) as refused:
        sign_file(message, private, PURPOSE, passphrase=lambda: "wrong")
    assert refused.value.code == "key.passphrase"
    assert "wrong" not in str(refused.value)
    sign_file(message, private, PURPOSE, passphrase=lambda: "open sesame")
    check_file(message, public, PURPOSE)


def encrypted_by_ssh_keygen(folder: Path) -> Path:
    private = folder / "id"
    options: list[str | Path] = ["-q", "-t", "ed25519", "-a", "1", "-N", "open sesame", "-C", "ann", "-f", private]
    subprocess.run(["ssh-keygen", *options], check=True)
    return private


@needs_ssh_keygen
def test_a_key_that_ssh_keygen_encrypted(message: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With bcrypt it is opened; without, the refusal says how to sign with ssh-keygen, and nothing is asked for."""
    private = encrypted_by_ssh_keygen(tmp_path)
    if find_spec("bcrypt") is not None:
        sign_file(message, private, PURPOSE, passphrase=lambda: "open sesame")
        assert check_file(message, private.with_suffix(".pub"), PURPOSE).name == "ann"
        with pytest.raises(Refused, match="passphrase"):
            open_key(private, lambda: "wrong")
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match="needs the package bcrypt") as refused:
        open_key(private, lambda: pytest.fail("asked in vain"))
    assert "ssh-keygen -Y sign" in str(refused.value.remedy)


def test_what_is_no_key(message: Path, tmp_path: Path) -> None:
    _, public = new_key(tmp_path)
    for wrong in (public, message, tmp_path / "missing"):
        with pytest.raises(CrowdblendError):
            sign_file(message, wrong, PURPOSE)
    for unknown in (message, tmp_path / "missing", "ssh-ed25519"):
        with pytest.raises(InvalidInput):
            read_signers(unknown)
    assert not signature_file(message).exists()
    private, public = new_key(tmp_path)
    for call in (lambda: sign_file(tmp_path / "gone", private, PURPOSE), lambda: check_file(tmp_path, public, PURPOSE)):
        with pytest.raises(InvalidInput) as refused:
            call()
        assert refused.value.code == "input.not-readable"


@for_each("text", ["", "x", "-----BEGIN SSH SIGNATURE-----\n!!\n-----END SSH SIGNATURE-----"])
def test_what_is_no_signature(text: str) -> None:
    with pytest.raises(DoesNotVerify):
        parse(text)


def test_a_signature_is_replaced_only_on_request(message: Path, tmp_path: Path) -> None:
    private, public = new_key(tmp_path)
    sign_file(message, private, PURPOSE)
    with pytest.raises(InvalidInput):
        sign_file(message, private, PURPOSE)
    sign_file(message, private, PURPOSE, force=True)
    check(message.read_bytes(), parse(signature_file(message).read_text()), PURPOSE)
    assert public.exists()
