"""Where guarantees and policies are tried: rehearsals, audits, attacks, the papers' figures, a made-up town."""
