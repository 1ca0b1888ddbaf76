"""Signatures in OpenSSH's format: made with an SSH key, checked by `ssh-keygen -Y verify` or by us."""
