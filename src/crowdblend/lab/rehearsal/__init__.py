"""The same release again and again, on made-up people: to know what to expect, and for the audit."""
