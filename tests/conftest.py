"""Settings of all tests."""

from hypothesis import HealthCheck, settings

# How busy the machine is says nothing about the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
