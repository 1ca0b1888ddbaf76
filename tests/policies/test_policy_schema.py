"""The schema for editors accepts what the reader accepts, and knows every key."""

import json
import tomllib

from crowdblend.policies.domains import DOMAINS
from crowdblend.policies.key import keys_of, sections_of
from crowdblend.policies.registry import KINDS, publication_class, publication_keys
from crowdblend.policies.sampling import DESIGNS
from crowdblend.policies.schema import kind_lists, kind_sections, policy_schema
from crowdblend.policies.terms import Terms

from .policies import SOUND, bent


def test_every_key_is_described():
    schema = policy_schema()
    assert json.loads(json.dumps(schema)) == schema
    assert schema["$schema"].endswith("2020-12/schema")
    for section, keys in sections_of(Terms).items():
        assert {key.name for key in keys.values()} <= set(schema["properties"][section]["properties"])
    designs = {one["properties"]["design"]["const"]: one for one in schema["properties"]["sampling"]["oneOf"]}
    assert set(designs) == set(DESIGNS)
    for name, holder in DESIGNS.items():
        assert set(keys_of(holder)) == set(designs[name]["properties"]) - {"design"}
    kinds = {one["properties"]["kind"]["const"]: one for one in schema["properties"]["publish"]["items"]["oneOf"]}
    assert set(kinds) == set(KINDS)
    for kind, described in kinds.items():
        assert {key.name for key in publication_keys(kind).values()} <= set(described["properties"])
        for section, keys in kind_lists(kind).items():
            inside = described["properties"][section.removeprefix("publish.")]
            assert set(keys) == set(inside["items"]["properties"])
    assert len(schema["properties"]["columns"]["additionalProperties"]["oneOf"]) == len(DOMAINS) + 1  # and an axis


def test_keys_that_a_design_rules_out_are_left_out():
    everybody, drawn = kind_sections("table", "everybody"), kind_sections("table", "poisson")
    assert set(drawn["publish"]) - set(everybody["publish"]) == {"k", "flag", "noise_epsilon", "show_from"}
    assert everybody["publish"]["below_k"].choices == ("suppress", "threshold")
    threshold = kind_sections("table", "everybody", texts={"below_k": "threshold"})
    assert {*threshold["publish"], *threshold["privacy"]} >= {"noise_epsilon", "show_from", "delta"}
    assert not {"k", "flag"} & set(threshold["publish"])
    assert set(everybody["publish"]) < set(drawn["publish"])
    assert set(everybody["data"]) == set(drawn["data"])
    assert set(drawn["privacy"]) - set(everybody["privacy"]) == {"delta"}
    assert "recoding" in drawn
    assert "recoding" not in everybody
    assert "recoding" in kind_sections("table", "strata")
    assert "error" not in kind_lists("statistics", "strata")["publish.statistics"]
    assert "person" not in kind_sections("graph")["data"]
    assert "people" not in kind_sections("statistics", "survey")["data"]
    assert "people" in kind_sections("statistics", "everybody")["data"]
    for kind in KINDS:
        for design in publication_class(kind).designs:
            assert kind_sections(kind, design)["sampling"].keys() == keys_of(DESIGNS[design]).keys()


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
        bent(('design = "poisson"', 'design = "everybody"')),
        bent(("k = 20", "limit = 20")),
        bent(("[privacy]", "[release]")),
    ]
    assert validator.is_valid(tomllib.loads(SOUND))
    assert [text for text in wrong if validator.is_valid(tomllib.loads(text))] == []
