"""The private check: a policy's own rows checked against what it declares, with values and counts.

It is for the steward alone, and the only place that shows either. Nothing else imports it but what the steward calls,
`cb.check` and `crowdblend check`; an import contract keeps it so. Nothing is recorded, and
nothing is kept.
"""
