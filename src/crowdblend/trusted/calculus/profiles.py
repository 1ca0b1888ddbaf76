"""The profile of a release that was derived at one ε: the same steps, up to where its curve is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from crowdblend.errors import CrowdblendError, InvalidInput, NotApplicable
from crowdblend.trusted.calculus.loss_curves import curve_of
from crowdblend.trusted.calculus.rules import mechanisms, profiles, strata
from crowdblend.trusted.calculus.theorem import Derivation
from crowdblend.trusted.guarantees.privacy import Differential
from crowdblend.trusted.guarantees.profiles import Profile

Maker = Callable[[Derivation], Derivation | None]


def profile_of(derivation: Derivation) -> Derivation:
    """The profile of the release that a differential guarantee is about; where no curve is known, that of its (ε, δ).

    >>> from crowdblend.trusted.calculus import RULES
    >>> sampled = RULES["suppression.exact"](RULES["histogram.suppressed"](k=8), rate=0.1, epsilon=1.0)
    >>> profile_of(RULES["dps.differential"](sampled)).conclusion.uses[0].curve
    CrowdCurve(k=8, blend_epsilon=0.0, rate=0.1)
    """
    if not isinstance(derivation.conclusion, Differential):
        raise InvalidInput("A profile starts from the derivation of a differential guarantee. Pass one of these.")
    return _known_profile(derivation) or profiles.profile_of_differential(derivation)


def compose_profiles(derivations: Sequence[Derivation]) -> Derivation:
    """The profile of several releases together, each with a sample and noise of its own; equal ones are counted."""
    return compose_releases([profile_of(made) for made in derivations])


def compose_releases(values: Sequence[Derivation]) -> Derivation:
    """Return the profile of releases with these profiles; equal ones are counted."""
    if all(made == values[0] for made in values[1:]) and len(values) > 1:
        return profiles.repeated_releases_compose(values[0], releases=len(values))
    return profiles.profiles_compose(*values)


def _known_profile(derivation: Derivation) -> Derivation | None:
    """Return the profile by the curve of the release; None where no rule knows one."""
    maker = _MAKERS.get(derivation.rule.id)
    if maker is None:
        return None
    with suppress(NotApplicable):
        made = maker(derivation)
        return made if made is not None and _computable(made.conclusion) else None
    return None


def _computable(profile: Profile) -> bool:
    """Return whether every curve can be evaluated; very large tables are not scanned."""
    try:
        return all(curve_of(use.curve) is not None for use in profile.uses)
    except CrowdblendError:
        return False


def _through(derivation: Derivation) -> Derivation | None:
    """Return the first premise whose curve is known: all premises are about this release."""
    return next((made for made in map(_known_profile, derivation.premises) if made is not None), None)


def _without_target(rule: Callable[..., Derivation]) -> Maker:
    """Return the rule with the same premises and parameters, but for the ε that a δ was asked for."""

    def make(derivation: Derivation) -> Derivation:
        parameters = {name: value for name, value in derivation.parameters.items() if name != "epsilon"}
        return rule(*derivation.premises, **parameters)

    return make


def _population(derivation: Derivation) -> Derivation | None:
    choice, release = derivation.premises
    known = _known_profile(release)
    return None if known is None else profiles.profile_of_population_recoding(choice, known)


def _strata(derivation: Derivation) -> Derivation | None:
    """Return the profile of every stratum; None where one has no curve."""
    found = [_known_profile(premise) for premise in derivation.premises]
    return strata.profile_of_strata(*(made for made in found if made is not None)) if None not in found else None


def _between_rates(derivation: Derivation) -> Derivation:
    low, high = derivation.parameters["low"], derivation.parameters["high"]
    (premise,) = derivation.premises
    return profiles.profile_of_biased_sampling(premise, low=low, high=high, exceptions=0, max_rate=high)


def _outliers(derivation: Derivation) -> Derivation:
    given = derivation.premises[0].parameters
    return profiles.profile_of_outliers(**{name: given[name] for name in ("epsilon", "transition", "limit")})


def _amplify(derivation: Derivation) -> Derivation:
    """Return the profile of a mechanism on a sample: by the curve of the mechanism where it has one."""
    (premise,), rate = derivation.premises, derivation.parameters["rate"]
    known = _known_profile(premise)
    if known is None:
        return profiles.profile_of_amplified(premise, rate=rate)
    return profiles.profile_of_one_sample(known, rate=rate)


_crowds = _without_target(profiles.profile_of_crowds)
_MAKERS: dict[str, Maker] = {
    "suppression.exact": _crowds,
    "suppression.published": _crowds,
    "blending.sharp": _crowds,
    "blending.explicit": _crowds,
    "blending.closed-form": _crowds,
    "histogram.noisy-sampled": _without_target(profiles.profile_of_noise_below_k),
    "points.sampled": _without_target(profiles.profile_of_points),
    "robust.differential": _without_target(profiles.profile_of_biased_sampling),
    "sampling.amplification": _amplify,
    "histogram.gaussian": _without_target(mechanisms.profile_of_gaussian),
    "histogram.threshold": _without_target(mechanisms.profile_of_threshold),
    "programme.parts": _without_target(profiles.profile_of_programme),
    "strata.worst": _strata,
    "strata.at-one-rate": _through,
    "strata.between-rates": _between_rates,
    "recoding.split": _without_target(profiles.profile_of_split_recoding),
    "recoding.population": _population,
    "outlier.differential": _outliers,
    "composition.differential": lambda made: profiles.profiles_compose(*map(profile_of, made.premises)),
    # What a guarantee at one ε or δ was read off.
    "profile.delta": lambda made: made.premises[0],
    "profile.epsilon": lambda made: made.premises[0],
    "choice.sampling": _through,
    "choice.differential": _through,
    "dps.differential": _through,
    "dps.postprocessing": _through,
}
