import pkgutil

from crowdblend.trusted import randomness

MODULES = [module.name for module in pkgutil.iter_modules(randomness.__path__)]


def test_everything_public_is_there_and_sorted():
    assert randomness.__all__ == sorted(randomness.__all__)
    assert all(hasattr(randomness, name) for name in randomness.__all__)
    modules = {*MODULES}
    assert {name for name in vars(randomness) if not name.startswith("_")} - modules == {*randomness.__all__}
