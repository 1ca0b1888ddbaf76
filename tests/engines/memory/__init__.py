"""Tables that are held in memory, as an engine, for rehearsals and tests; recodings run as Python defines them."""
