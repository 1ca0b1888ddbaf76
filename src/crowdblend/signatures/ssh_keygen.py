"""Signing by `ssh-keygen -Y sign`: with a key that an ssh-agent holds, or with one that only OpenSSH can decrypt.

A passphrase is handed over through a pipe that a program of ours reads when ssh-keygen asks (SSH_ASKPASS): it is on no
command line, in no environment and in no file.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from crowdblend.errors import Refused

PROGRAM = "ssh-keygen"
_SECONDS = 120


def is_installed() -> bool:
    """Whether ssh-keygen is there."""
    return shutil.which(PROGRAM) is not None


def sign_by_program(message: bytes, key: Path, namespace: str, passphrase: str | None = None) -> str:
    """The signature that ssh-keygen makes; without a passphrase, only where an agent holds the key."""
    with tempfile.TemporaryDirectory() as folder:  # readable by its owner alone
        pipe, answer = Path(folder) / "pipe", Path(folder) / "answer"
        os.mkfifo(pipe, 0o600)
        said = "exit 1" if passphrase is None else f"head -n 1 {shlex.quote(str(pipe))}"
        answer.write_text(f"#!/bin/sh\n{said}\n", encoding="utf-8")
        answer.chmod(0o700)
        # Before OpenSSH 8.4 it asks the program only where there are a display and no terminal.
        ask = {"SSH_ASKPASS": str(answer), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": os.environ.get("DISPLAY", ":0")}
        handle = os.open(pipe, os.O_RDWR)  # does not wait for a reader
        try:
            os.write(handle, f"{passphrase or ''}\n".encode())
            done = subprocess.run(
                [PROGRAM, "-Y", "sign", "-q", "-f", os.fspath(key), "-n", namespace],
                input=message,
                capture_output=True,
                env={**os.environ, **ask},
                start_new_session=True,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            raise _refused() from None
        finally:
            os.close(handle)
    if done.returncode != 0:
        raise _refused()
    return done.stdout.decode("ascii")


def _refused() -> Refused:
    return Refused(
        "ssh-keygen did not sign with this key. Check the passphrase.", where="--sign", code="key.passphrase"
    )
