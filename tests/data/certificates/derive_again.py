"""Derive the certificates beside this file again: `python -m tests.data.certificates.derive_again`.

They are of releases of every kind and of rules that no kind uses; to add one, copy a `certificate.json` here. Run this
when a rule takes something else for granted. Guarantees and derivations must stay as they are.
"""

import json
from pathlib import Path
from typing import Any

from crowdblend.trusted.calculus import RULES, Assumption, Certificate, Derivation


def derive(node: dict[str, Any]) -> Derivation:
    return RULES[node["rule"]](*map(derive, node["premises"]), **node["parameters"])


if __name__ == "__main__":
    for path in sorted(Path(__file__).parent.glob("*.json")):
        old = json.loads(path.read_text(encoding="utf-8"))
        stated = tuple(Assumption[name] for name in old["stated"])
        certificate = Certificate(tuple(map(derive, old["derivations"])), stated, old["facts"])
        new = json.loads(certificate.to_json())
        assert [new[part] for part in ("guarantees", "derivations")] == [old["guarantees"], old["derivations"]], path
        path.write_text(certificate.to_json(), encoding="utf-8")
