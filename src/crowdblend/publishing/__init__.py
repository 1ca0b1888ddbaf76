"""From a policy to a folder that appears whole or not at all, recorded in the ledger."""
