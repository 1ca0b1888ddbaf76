"""CBC-MAC of a text, one block at a time, straight from the definition."""

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import ECB


def encoded(text: bytes) -> bytes:
    if len(text) < 255:
        first, rest = text[:15].ljust(15, b"\0") + bytes([len(text)]), text[15:]
    else:
        first, rest = len(text).to_bytes(15, "little") + b"\xff", text
    return first + rest + bytes(-len(rest) % 16)


def chained(message: bytes, key: bytes) -> int:
    cipher = Cipher(AES256(key), ECB()).encryptor()
    state = bytes(16)
    for start in range(0, len(message), 16):
        state = cipher.update(bytes(a ^ b for a, b in zip(state, message[start : start + 16], strict=True)))
    return int.from_bytes(state, "little")


def mac(text: bytes, key: bytes) -> int:
    return chained(encoded(text), key)
