"""A release folder verified: its certificate, its files, and that the data are what the certificate says of them.

One module per kind, each with a function `check(published)` that raises DoesNotVerify where data and certificate
contradict each other. The hashes of a certificate have no key: whoever edits data can write new hashes. But what the
derivations say of the data (k, flags, rows) cannot be edited without changing the guarantee; that is what is checked.
"""

from crowdblend.publishing.verification.consistency import Verified, verify_release

__all__ = ["Verified", "verify_release"]
