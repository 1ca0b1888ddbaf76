"""The schema for editors accepts what the reader accepts, and knows every key."""

import json
import tomllib

from crowdblend.policies import policy_schema
from crowdblend.policies.domains import DOMAINS
from crowdblend.policies.registry import KINDS, sections

from .policies import SOUND, bent


def test_every_key_is_described():
    schema = policy_schema()
    assert json.loads(json.dumps(schema)) == schema
    assert schema["$schema"].endswith("2020-12/schema")
    for kind in KINDS:
        for section, names in sections(kind).items():
            outer, _, inner = section.partition(".")
            known = schema["properties"][outer]
            known = known["properties"][inner] if inner else known
            known = known.get("items", known).get("properties", {})
            assert set(names) <= set(known)
    assert len(schema["properties"]["columns"]["additionalProperties"]["oneOf"]) == len(DOMAINS) + 1  # and an axis


def test_it_accepts_and_refuses_as_the_reader_does():
    import jsonschema

    validator = jsonschema.Draft202012Validator(policy_schema())
    validator.check_schema(policy_schema())
    wrong = [
        bent(("rate = 0.1", "rate = 1.2")),
        bent(("person =", "persn =")),
        bent(('kind = "table"', 'kind = "x"')),
        bent(('{ values = ["Female", "Male"] }', '{ values = ["a"], prefix = 2 }')),
        bent(("k = 20", "k = 0")),
    ]
    assert validator.is_valid(tomllib.loads(SOUND))
    assert [text for text in wrong if validator.is_valid(tomllib.loads(text))] == []
