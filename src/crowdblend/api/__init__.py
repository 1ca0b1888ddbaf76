"""What Python users call: release, resume, verify, compose, audit, columns and the ledger.

`crowdblend` exports these names, each loaded when it is asked for. The command line calls the same functions.
"""
