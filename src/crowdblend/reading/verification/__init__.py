"""A release folder verified: its certificate, its files, and that the data are what the certificate says of them.

The hashes of a certificate have no key: anyone who edits data can write new hashes. But the derivations are made again
from the facts, and the facts say what the data may be like; that is what each kind checks in its `verify`, a function
`check(published)` that raises DoesNotVerify where data and facts contradict each other.
"""
