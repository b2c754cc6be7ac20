"""Options that only the configuration of a machine has, and no request for a debate."""

from __future__ import annotations

from typing import ClassVar

from disputatio.options import Amount, Number, Options, Whole, option
from disputatio.request import reading
from disputatio.request.model import OPERATOR


class Metrics(Options):
    """The thresholds of ``disputatio metrics``. Figures without a threshold are not watched."""

    GROUP: ClassVar[str] = "metrics"
    LOCAL: ClassVar[str] = OPERATOR
    challenge_strength: Number | None = option(
        6.5, "Alert if critiques are weaker on average.", ge=1, le=10, flag="", variable="", unit="points"
    )
    low_confidence: Number | None = option(
        0.3,
        "Alert if a larger share of syntheses has LOW confidence.",
        ge=0,
        le=1,
        flag="",
        variable="",
        unit="a share",
    )
    cost_ratio: Number | None = option(
        1.5, "Alert if debates take more tokens than so many times the estimate.", ge=0, le=1_000, flag="", variable="",
        unit="times the estimate",
    )  # fmt: skip
    agreement: Number | None = option(
        None, "Alert if a larger share of debates agrees with the first proposer.", ge=0, le=1, flag="", variable="",
        unit="a share",
    )  # fmt: skip
    one_conclusion: Number | None = option(
        None, "Alert if all roles reach one conclusion in a larger share.", ge=0, le=1, flag="", variable="",
        unit="a share",
    )  # fmt: skip
    tilt: Number | None = option(
        None,
        "Alert if moderators lean further to either side on average.",
        ge=0,
        le=9,
        flag="",
        variable="",
        unit="points",
    )
    uncertainties: Number | None = option(
        None,
        "Alert if debates have more uncertainties on average.",
        ge=0,
        le=1_000,
        flag="",
        variable="",
        unit="a debate",
    )
    degraded: Number | None = option(
        None, "Alert if a larger share of debates is not complete.", ge=0, le=1, flag="", variable="", unit="a share"
    )
    fewest: Whole = option(1, "Minimum number of debates for an alert.", ge=1, le=10**9, flag="", variable="")


class Estimate(Options):
    """What estimates assume about answers. By default they use what is known about each model."""

    GROUP: ClassVar[str] = "estimate"
    LOCAL: ClassVar[str] = OPERATOR
    characters: Whole | None = option(
        None,
        "Length of one text of an answer, in characters. The default depends on the model.",
        ge=1,
        le=100_000,
        flag="",
        variable="",
    )
    share: Number | None = option(
        None,
        "How much of its maximum length a text takes. The default is 0.5 for unknown models.",
        ge=0,
        le=1,
        flag="",
        variable="",
        unit="a share",
    )


class Price(Options):
    """What a model costs, in US dollars per million tokens."""

    GROUP: ClassVar[str] = "price.<model>"
    LOCAL: ClassVar[str] = OPERATOR
    input: Amount = option(None, "For a million tokens of input.", ge=0, flag="", variable="", read=reading.rate)
    output: Amount = option(None, "For a million tokens of output.", ge=0, flag="", variable="", read=reading.rate)
    cached_input: Amount | None = option(
        None,
        "For a million cached tokens of input. The default is the price of input.",
        ge=0,
        flag="",
        variable="",
        read=reading.rate,
    )


class Configuration(Options):
    """Options that only the configuration of a machine has, and no request."""

    LOCAL: ClassVar[str] = OPERATOR
    store: str | None = option(
        None,
        "Where records are stored: a path or a database URL. The default is in the user's data folder.",
        metavar="URL",
        read=reading.store,
        local=OPERATOR,
    )
    metrics: Metrics = Metrics()
    estimate: Estimate = Estimate()
