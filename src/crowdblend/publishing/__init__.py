"""Publishing: from a policy to a folder that appears whole or not at all, with its record."""
