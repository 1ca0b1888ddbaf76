"""The functions that Python users call: release, resume, verify, compose, audit, ledger.

`crowdblend` exports these names, each loaded when it is asked for. The command line calls the same functions.
"""
