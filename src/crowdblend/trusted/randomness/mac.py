"""A keyed function of rows of blocks and of texts, for many at once: CBC-MAC with AES-256.

    MAC(b₁ … b_m) = E(… E(E(b₁) ⊕ b₂) … ⊕ b_m)

Theorem (Petrank and Rackoff 2000). On inputs of which none is a prefix of another, CBC-MAC under a random permutation
cannot be told from a random function: q inputs of up to ℓ blocks give an advantage of about q²·ℓ²/2^128.

Rows under one key have the same number of blocks, so none is a proper prefix of another.

Texts are encoded so that the first block gives away the length, hence the number of blocks, and the padding:

- below 255 bytes: the first 15 bytes and the length in one byte; then the other bytes, 16 in a block;
- otherwise: the length in 15 bytes and the byte 255; then all bytes, 16 in a block.

Missing bytes are zero. Two texts with the same encoding have the same length and the same bytes. Two texts of which
one's encoding were a prefix of the other's would share the first block, so have the same number of blocks, so the same
encoding. Hence the theorem holds: two different texts, whatever they are, share a value only by chance, and each has
its chance anew. Anyone who does not know the key, and never sees a value, cannot aim at one.

A text below 255 bytes has at most 16 blocks, and one of up to 31 bytes at most two: for 8 billion such people the
advantage is about 2^-60.
"""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CBC, ECB
from numpy.typing import NDArray

from crowdblend.trusted.randomness.texts import Blocks, Integers, Texts

BLOCK = 16
_FIRST = BLOCK - 1  # bytes of a text in its first block
_LONG = 255
_PIECE = 1 << 16  # bytes of a long text at once, whole blocks
# By n: the first n bytes of a block.
_FIRST_BYTES = np.frombuffer(b"".join(b"\xff" * n + bytes(BLOCK - n) for n in range(BLOCK + 1)), dtype="<u8")
_FIRST_BYTES = _FIRST_BYTES.astype(np.uint64, copy=False).reshape(-1, 2)


class Mac:
    """The function of one key, which serves either rows of one width or texts."""

    def __init__(self, key: bytes) -> None:
        self._key = AES256(key)
        self._cipher = Cipher(self._key, ECB()).encryptor()

    def of_rows(self, words: NDArray[np.uint64]) -> Blocks:
        """Return the value of each row of words, two to a block; an odd row is completed with a zero."""
        state = self._encrypt(_pair(words, 0))
        for start in range(2, words.shape[1], 2):
            state = self._encrypt(state ^ _pair(words, start))
        return state

    def of_texts(self, texts: Texts) -> Blocks:
        """Return the value of each text. Memory is proportional to the number of texts and not to their lengths."""
        if texts.length is not None and texts.length < _LONG:
            return self._of_equal(texts, (texts.length + BLOCK) >> 4)
        counts = (texts.lengths + BLOCK) >> 4
        least, most = int(counts.min(initial=1 << 62)), int(counts.max(initial=0))
        if least == most < _LONG // BLOCK:  # the usual case: all short and alike
            return self._of_equal(texts, most)
        counts[texts.lengths >= _LONG] = 0
        marked = np.empty((len(texts), 2), dtype=np.uint64)
        for count in np.flatnonzero(np.bincount(counts)).tolist():
            rows = np.flatnonzero(counts == count)
            if count:
                marked[rows] = self._of_equal(texts[rows], count)
            else:
                marked[rows] = _blocks(b"".join([self._of_long(texts, row) for row in rows.tolist()]))
        return marked

    def _of_equal(self, texts: Texts, count: int) -> Blocks:
        """Texts that all take the same number of blocks; only the last one is not full."""
        state, lengths = texts.blocks_from(0), texts.lengths if texts.length is None else texts.length
        _keep_first_bytes(state, lengths if count == 1 else _FIRST)
        state[:, 1] |= np.asarray(lengths, dtype=np.uint64) << np.uint64(56)
        state = self._encrypt(state)
        for begin in range(_FIRST, _FIRST + BLOCK * (count - 1), BLOCK):
            block = texts.blocks_from(begin)
            if begin == _FIRST + BLOCK * (count - 2):
                _keep_first_bytes(block, lengths - begin)
            state = self._encrypt(state ^ block)
        return state

    def _of_long(self, texts: Texts, row: int) -> bytes:
        """One long text: a cipher for each costs less than a round for each block of all."""
        start, length = int(texts.starts[row]), int(texts.lengths[row])
        chain = Cipher(self._key, CBC(bytes(BLOCK))).encryptor()
        state = chain.update(length.to_bytes(_FIRST, "little") + bytes([_LONG]))
        for begin in range(start, start + length, _PIECE):
            piece = texts.held[begin : min(begin + _PIECE, start + length)].tobytes()
            state = chain.update(piece + bytes(-len(piece) % BLOCK))[-BLOCK:]
        return state

    def _encrypt(self, blocks: Blocks) -> Blocks:
        # Read where it lies and written where it stays: the cipher is so fast that copies would show.
        data = np.ascontiguousarray(blocks, dtype="<u8").reshape(-1).view(np.uint8)
        encrypted = np.empty(len(data) + BLOCK - 1, dtype=np.uint8)  # the room that the cipher asks for
        self._cipher.update_into(data.data, encrypted.data)
        return _blocks(encrypted[: len(data)])


def _keep_first_bytes(blocks: Blocks, lengths: Integers | int) -> None:
    """Set the bytes beyond these lengths to zero."""
    if isinstance(lengths, int):  # word by word: rows of two are too short to be gone through one by one
        if lengths < BLOCK // 2:
            blocks[:, 0] &= _FIRST_BYTES[lengths, 0]
        blocks[:, 1] &= _FIRST_BYTES[lengths, 1]
    else:
        blocks &= _FIRST_BYTES.take(lengths, axis=0)


def _blocks(data: bytes | NDArray[np.uint8]) -> Blocks:
    return np.frombuffer(data, dtype="<u8").astype(np.uint64, copy=False).reshape(-1, 2)


def _pair(words: NDArray[np.uint64], start: int) -> Blocks:
    pair = words[:, start : start + 2]
    return pair if pair.shape[1] == 2 else np.concatenate([pair, np.zeros_like(pair)], axis=1)
