"""The threat model lists every fact that the data cannot contradict, so that a reader has the publisher's word only.

Every field of facts is in one of two lists: what the publisher vouches for, which the page names, and what `verify`
holds against the data, against other facts or against the derivations, or what no guarantee follows from.
"""

import re
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from crowdblend.kinds.shared.facts import ReleaseFacts
from crowdblend.policies.registry import KINDS, WHOLES, part

PAGE = Path(__file__).parents[2] / "docs" / "threat-model.md"
VOUCHED = {
    *("FixedSizeFacts people group", "InCopiesFacts people group"),
    *("EverywhereFacts releases recoding count totals", "ThresholdFacts releases recoding"),
    *("ReleaseFacts person about date run software unit_word proposed", "PeopleFacts design rows_per_person one_row"),
    *(
        "TableFacts releases recoding",
        "EverywhereFacts releases recoding count totals",
        "ThresholdFacts releases recoding",
        "MicrodataFacts releases recoding",
        "PointsFacts releases recoding",
    ),
    *("Poisson rate", "Coins rate", "ThinnedSurvey rate people of", "Survey people of already_drawn"),
    *(
        "Biased low high exceptions max_rate rate rates weight stratum already_drawn",
        "Stratum rate low high exceptions",
    ),
    *("Strata column already_drawn thin", "Weights column already_drawn thin breaks"),
    *("RecodingFacts choice score share", "CertifiedChoice score epsilon choices"),
    *("ExpectedPeople counted_from rate stands_for parts", "SuppressedHistogram k", "SuppressedRecords k"),
    *("NoisyHistogram k noise_epsilon", "NoiseEverywhere noise_epsilon rows_per_person", "GaussianEverywhere sigma"),
    *("ThresholdHistogram noise_epsilon show_from", "NoisyTotal noise_epsilon rows_per_person"),
    *("MovedPoints k noise_epsilon", "Series releases", "OutlierHistogram epsilon transition limit"),
    *(
        "FixedSizeFacts people group",
        "InCopiesFacts people group",
        "StatisticFacts way noise_epsilon samples",
        "FittedRows noise_epsilon rows",
    ),
    *("Exponential epsilon rows", "CountedRows noise_epsilon rows", "SyntheticFacts sources met", "Source digest"),
    *("GraphFacts people degree_bound average_bound", "GraphStatisticFacts scale resolution samples explored"),
    *("ProgrammeFacts releases split design", "PublicationFacts share"),
}
CHECKED = {
    *(f"{one} statistics_ columns series epsilon confidence" for one in ("FixedSizeFacts", "InCopiesFacts")),
    *("EverywhereFacts columns mechanism epsilon delta", "ThresholdFacts columns mechanism epsilon delta"),
    # Hashes, labels and columns are held against the data; what ran, against the form of the kind.
    *(
        "ReleaseFacts files",
        "TableFacts columns mechanism strata",
        "EverywhereFacts columns mechanism",
        "ThresholdFacts columns mechanism",
        "MicrodataFacts columns mechanism strata",
    ),
    *("PointsFacts columns mechanism strata axes shapes keep_in show_blocks blocks", "AxisFacts low high resolution"),
    *(
        "AxisFacts width",
        "OutlierTableFacts mechanism columns series",
        "SynopsisFacts mechanism columns series queries",
    ),
    *(
        "FixedSizeFacts statistics_ columns series",
        "InCopiesFacts statistics_ columns series",
        "SyntheticFacts columns rows",
        "GraphFacts statistics",
    ),
    *("Strata strata", "Weights strata", "ProgrammeFacts published", "PublicationFacts facts", "Source facts stated"),
    *("Domain recoding labels size other missing start to width resolution breaks include_to bottom top whole",),
    *(
        "Domain outside blank period level levels length join recodings",
        "RecodingFacts recodings chosen",
    ),
    *("Level step steps loss classes level period width", "Queries conjunctions add_up ranges listed"),
    *("StatisticFacts average sum median quantile at fraction count histogram by where", "NoisyTotal name"),
    *(
        "GraphStatisticFacts name column low width labels other breaks",
        "TableMet source name columns cells apart noise",
    ),
    # What is stated may not be less than what the mechanisms guarantee; accuracy and display are no guarantee.
    *(
        "TableFacts epsilon delta",
        "EverywhereFacts epsilon delta",
        "ThresholdFacts epsilon delta",
        "MicrodataFacts epsilon delta",
        "PointsFacts epsilon delta",
        "Series epsilon delta",
    ),
    *(
        "ProgrammeFacts epsilon delta",
        "FixedSizeFacts epsilon confidence",
        "InCopiesFacts epsilon confidence",
        "RecodingFacts released_epsilon",
    ),
    *("OutlierHistogram show_from factor", "NoisyHistogram show_from flag", "SynopsisFacts failure misfit size"),
}


def listed(entries: set[str]) -> set[str]:
    """Return the fields of a list, each as Class.field."""
    return {f"{name}.{field}" for entry in entries for name, *fields in [entry.split()] for field in fields}


def owner(struct: type, field: str) -> str:
    """Return the class that declares a field, the first of those that it inherits from."""
    bases = [one for one in struct.__mro__ if issubclass(one, msgspec.Struct) and one is not msgspec.Struct]
    return [one.__name__ for one in bases if field in getattr(one, "__struct_fields__", ())][-1]


def fields_of(facts: Any, found: dict[type, None]) -> dict[type, None]:
    """Return every class of facts that this one holds, however deep."""
    for inner in get_args(facts):
        fields_of(inner, found)
    if isinstance(facts, type) and issubclass(facts, msgspec.Struct) and facts not in found:
        found[facts] = None
        for hint in get_type_hints(facts).values():
            fields_of(hint, found)
    return found


def every_field() -> set[str]:
    classes: dict[type, None] = {}
    for kind in (*KINDS, *WHOLES):
        held = [one for one in vars(part(kind, "facts")).values() if isinstance(one, type)]
        facts = [one for one in held if issubclass(one, ReleaseFacts) and one.__struct_config__.tag == kind]
        for one in facts:
            if not any(issubclass(other, one) for other in facts if other is not one):  # that of a method
                fields_of(one, classes)
    shared = {"ReleaseFacts", "PeopleFacts"}
    named = set()
    for struct in classes:
        for field in msgspec.structs.fields(struct):
            declared = owner(struct, field.name)
            named.add(f"{declared if declared in shared else struct.__name__}.{field.name}")
    return named


def test_every_fact_is_vouched_for_or_checked() -> None:
    vouched, checked = listed(VOUCHED), listed(CHECKED)
    assert not vouched & checked
    assert vouched | checked == every_field()


def test_the_page_names_every_fact_that_only_a_signature_vouches_for() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = text.split("What no data can contradict", 1)[1].split("## A colleague with the ledger", 1)[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == {field.partition(".")[2] for field in listed(VOUCHED)}
