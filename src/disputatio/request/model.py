"""The request for a debate: one model, from which every surface derives.

``DebateRequest`` is what a caller gives. Each group of options is a class. The options of formats are in
``formats/options.py``, and those that only the configuration of a machine has are in ``request/configuration.py``.
"""

from __future__ import annotations

import base64
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    SerializeAsAny,
    WithJsonSchema,
    model_validator,
)

from disputatio.formats.options import FormatOptions, Sentence, Structured, Word
from disputatio.motion.motion import SourceKind, is_source_id
from disputatio.options import Amount, Flag, Many, Number, Options, Whole, option
from disputatio.options.reading import weight
from disputatio.request import reading
from disputatio.request.formats import format_schema, parse_format

MOST_TOKENS = 1_000_000
MOST_SEED = 2**31 - 1  # the widest range that every provider and llama.cpp take alike
ADDRESS = "an address that only the operator of the machine may set"
OPERATOR = "a setting that only the operator of the machine may change"
COMMAND = "a command that only the operator of the machine may set"
FILE = "a file that only the operator of the machine may name"
_MOST_USD = 1_000_000_000
_RATE = "US dollars per million tokens, 0 or more, such as 0.25"
Weight = Annotated[Amount, Field(ge=0, le=1_000_000)]
Tokens = Annotated[Whole, Field(ge=1, le=MOST_TOKENS)]
Degrees = Annotated[Number, Field(ge=0, le=2)]
Rate = Annotated[Amount, Field(ge=0, le=_MOST_USD)]


class Criterion(Options):
    """A criterion of your own rubric: its weight, and the question that the judge answers."""

    weight: Amount = option(None, "Its share of the whole. All weights add up to exactly 1.", gt=0, le=1, flag="")
    question: str | None = option(
        None,
        "The question that the judge answers from 1 to 10, in one line. The default asks how good it is.",
        max_length=300,
        flag="",
    )


def _criterion(value: Any) -> Any:
    return {"weight": value} if isinstance(value, str | int | float | Decimal) else value


class Judging(Options):
    """How a debate is judged."""

    GROUP: ClassVar[str] = "judging"
    judges: Whole | None = option(
        None,
        "Number of judges. The default is the number of judges that are named.",
        ge=1,
        le=9,
        key="judges",
        metavar="N",
    )
    both_orders: Flag = option(False, "Every judge judges twice, with either side first. A win must survive both.")
    anonymous: Flag = option(False, "The judges see Side A and Side B. Judging in both orders implies this.")
    retest: Flag = option(False, "Every judge judges once more, and the report states the difference.")
    method: Literal["mean", "median", "majority", "weighted", "weighted-vote"] = option(
        "mean",
        "How the rulings of several judges become one: mean, median, majority, weighted or weighted-vote.",
        flag="--panel-method",
        variable="DISPUTATIO_PANEL_METHOD",
        metavar="M",
    )
    weights: dict[Word, Weight] = option(
        default_factory=dict,
        help="The weight of each judge under the weighted methods. Only the proportions matter.",
        key="judging.weights.<seat>",
        flag="",
        variable="",
        read=weight,
    )
    dead_zone: Amount = option(
        Decimal(0),
        "A gap between the sides below this many points is a tie.",
        ge=0,
        le=9,
        flag="",
        variable="",
        read=reading.points,
    )
    rubric: Word | None = option(
        None, "The name of a packaged rubric.", key="rubric", flag="", read=reading.rubric_name
    )
    criteria: dict[Word, Annotated[Criterion, BeforeValidator(_criterion)]] = option(
        default_factory=dict,
        help="Your own criteria instead of a rubric: the weight of each, or its weight and question.",
        key="criteria.<criterion>",
        flag="",
        variable="",
        read=reading.criterion_weight,
    )


class Budget(Options):
    """Ceilings. The cost of every call is reserved before it is sent, so no ceiling is passed."""

    GROUP: ClassVar[str] = "budget"
    usd: Amount | None = option(
        None,
        "Ceiling in US dollars.",
        gt=0,
        le=_MOST_USD,
        flag="--budget-usd",
        variable="DISPUTATIO_BUDGET_USD",
        metavar="X",
        read=reading.money,
        examples=["0.50"],
    )
    tokens: Whole | None = option(
        None,
        "Ceiling in tokens, input and output.",
        ge=1,
        le=10**12,
        flag="--budget-tokens",
        variable="DISPUTATIO_BUDGET_TOKENS",
        metavar="N",
    )
    calls: Whole | None = option(
        None,
        "Ceiling in calls, including repeated ones.",
        ge=1,
        le=10**9,
        flag="--max-calls",
        variable="DISPUTATIO_MAX_CALLS",
        metavar="N",
    )
    stagger: Flag = option(
        False, "Send the first call of each phase alone, so the others can use its prompt cache.", key="stagger"
    )


class Limits(Options):
    """Limits of turns. The format sets the others."""

    GROUP: ClassVar[str] = "limits"
    closing_words: Whole | None = option(None, "Maximum words of a closing.", ge=1, le=100_000, flag="", variable="")
    minimum_arguments: Whole | None = option(
        None, "Minimum arguments of an opening.", ge=1, le=20, flag="", variable=""
    )
    maximum_arguments: Whole | None = option(
        None, "Maximum arguments of an opening.", ge=1, le=20, flag="", variable=""
    )
    evidence_chars: Whole | None = option(
        None,
        "Maximum characters of evidence that a seat is shown. The default is a quarter of its model's context window.",
        ge=1_000,
        le=10**9,
        flag="",
        variable="",
    )
    max_tokens: dict[Word, Tokens] = option(
        default_factory=dict,
        help="Maximum tokens of an answer in a phase, without reasoning. The default is the phase's own limit.",
        key="limits.max_tokens.<phase>",
        flag="",
        variable="",
    )
    temperature: dict[Word, Degrees] = option(
        default_factory=dict,
        help="Sampling temperature in a phase. The default is the phase's own.",
        key="limits.temperature.<phase>",
        flag="",
        variable="",
    )


class Tools(Options):
    """What seats may look up before they speak, and how much."""

    GROUP: ClassVar[str] = "tools"
    by_seat: dict[Word, Many[Word]] = option(
        default_factory=dict,
        help="The tools of a seat: search, calculate, an MCP server or SERVER.TOOL. none takes tools away.",
        key="seats.<seat>.tools",
        flag="--tools",
        variable="LLM_TOOLS",
        metavar="SEAT=TOOL,TOOL",
        missing="which seat has which tools",
        read=reading.tool_words,
        repeat=True,
        examples=["pro=search,calculate"],
    )
    mcp: dict[Word, str] = option(
        default_factory=dict,
        help="An MCP server: the command that starts it, or its address (http://...).",
        key="mcp_servers.<server>",
        variable="",
        metavar="NAME=COMMAND",
        missing="the name of a server and how to start or reach it",
        read=reading.server_address,
        repr=False,
        repeat=True,
        local=COMMAND,
        examples=["files='mcp-server-files /data'"],
    )
    mcp_env: dict[Word, Many[str]] = option(
        default_factory=dict,
        help="The environment variables for an MCP server. For an address, the one with its token.",
        key="mcp_env.<server>",
        flag="",
        variable="",
        read=reading.variable_names,
        local=OPERATOR,
    )
    rounds: Whole = option(
        2,
        "How often a seat is asked which tools to call before a turn.",
        ge=1,
        le=10,
        flag="",
        variable="",
        local=OPERATOR,
    )
    calls: Whole = option(3, "Maximum tool calls in one round.", ge=1, le=10, flag="", variable="", local=OPERATOR)
    result_chars: Whole = option(
        6_000,
        "Maximum characters of a tool result that a seat is shown.",
        ge=200,
        le=100_000,
        flag="",
        variable="",
        local=OPERATOR,
    )
    timeout: Number = option(
        30.0,
        "Seconds after which a tool call times out.",
        ge=0.1,
        le=3_600,
        flag="",
        variable="",
        unit="seconds",
        local=OPERATOR,
    )

    @model_validator(mode="before")
    @classmethod
    def _only_seats(cls, data: Any) -> Any:
        """Read ``{"pro": ["search"]}`` as the tools of seats: no other option of this group is a list."""
        lists = isinstance(data, dict) and all(isinstance(row, list | tuple) for row in data.values())
        return {"by_seat": data} if lists else data


class SeatOptions(Options):
    """The model in a seat, and how it is called."""

    GROUP: ClassVar[str] = "seats.<seat>"
    provider: str | None = option(
        None, "The provider, such as openai or ollama.", flag="--seat", variable="LLM_PROVIDER", read=reading.provider
    )
    model: str | None = option(
        None, "The provider's name for the model.", flag="--seat", variable="LLM_MODEL", read=reading.model
    )
    base_url: str | None = option(
        None,
        "Address of an OpenAI-compatible server, without user, password or question mark.",
        flag="--base-url",
        variable="LLM_BASE_URL",
        metavar="URL",
        read=reading.url,
        local=ADDRESS,
    )
    api_key_env: str | None = option(
        None,
        "The environment variable that holds the key.",
        flag="",
        variable="",
        read=reading.variable_name,
        local=OPERATOR,
    )
    temperature: Number | None = option(
        None,
        "Sampling temperature in every phase. The default is each phase's own.",
        ge=0,
        le=2,
        flag="",
        variable="LLM_TEMPERATURE",
        local=OPERATOR,
    )
    max_tokens: Whole | None = option(
        None,
        "Maximum tokens of an answer in every phase, without reasoning.",
        ge=1,
        le=MOST_TOKENS,
        flag="",
        variable="LLM_MAX_TOKENS",
        local=OPERATOR,
    )
    reasoning_effort: str | Whole | None = option(
        None,
        "How long the model reasons: none, minimal, low, medium, high, or a number of tokens.",
        flag="",
        variable="LLM_REASONING_EFFORT",
        read=reading.reasoning_effort,
        local=OPERATOR,
    )
    timeout: Number | None = option(
        None,
        "Seconds to wait for an answer. The default is 300.",
        ge=0.1,
        le=86_400,
        flag="",
        variable="LLM_TIMEOUT",
        unit="seconds",
        local=OPERATOR,
    )
    attempts: Whole | None = option(
        None,
        "Maximum attempts of one call. The default is 4.",
        ge=1,
        le=20,
        flag="",
        variable="LLM_ATTEMPTS",
        local=OPERATOR,
    )
    persona: str | None = option(
        None,
        "The persona that the model gets. @PATH reads it from a text file.",
        flag="",
        variable="LLM_PERSONA",
        read=reading.persona,
        local=OPERATOR,
    )
    piecewise: Flag | None = option(
        None,
        "Ask for a turn one piece at a time. This is the default for small embedded models.",
        flag="",
        variable="LLM_PIECEWISE",
        local=OPERATOR,
    )
    mode: Literal["native", "tool", "prompted"] | None = option(
        None,
        "How structured output is requested. The default is the cheapest mode, or the best that works.",
        flag="",
        variable="LLM_MODE",
        read=reading.mode,
        local=OPERATOR,
    )
    tools: Many[Word] | None = option(
        None, "The tools of this seat.", flag="--tools", variable="LLM_TOOLS", read=reading.tool_words
    )
    price: str | None = option(
        None,
        "INPUT/OUTPUT or INPUT/OUTPUT/CACHED in US dollars per million tokens.",
        flag="",
        variable="LLM_PRICE",
        read=reading.price,
        local=OPERATOR,
    )
    fallback: str | None = option(
        None,
        "The model that takes over when attempts are used up, as PROVIDER:MODEL.",
        flag="",
        variable="LLM_FALLBACK",
        read=reading.seat_value,
        local=OPERATOR,
    )
    fallback_api_key_env: str | None = option(
        None,
        "The environment variable that holds the key of the fallback.",
        flag="",
        variable="",
        read=reading.variable_name,
        local=OPERATOR,
    )


def _source_id(value: str) -> str:
    if not is_source_id(value):
        raise ValueError("an id has up to 60 letters, digits, hyphens, underscores and full stops")
    return value


SourceId = Annotated[
    str,
    AfterValidator(_source_id),
    # Letters of any alphabet are accepted, as in the ids that are made from file names.
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$"}),
]


def _is_base64(content: str) -> str:
    try:
        base64.b64decode(content.encode("ascii"), validate=True)
    except ValueError:
        raise ValueError("it is not base64 (RFC 4648, with + and / and padding)") from None
    return content


class EvidenceSource(Options):
    """A source: its file name, and either its text or the bytes of its file."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["text"]}, {"required": ["content"]}]})
    title: Annotated[
        str,
        Field(
            min_length=1,
            max_length=120,
            description="The name of the file. Its ending tells the kind of file, and its id is made from it.",
            examples=["benchmark.md"],
        ),
    ]
    text: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=2_000_000,
            description="The content of a text, Markdown, HTML or JSON file.",
            examples=["Release took 3.8 hours, then 0.7."],
        ),
    ] = None
    content: Annotated[
        Annotated[str, Field(min_length=4, max_length=14_000_000), AfterValidator(_is_base64)] | None,
        Field(
            description="The bytes of a file in base64, such as a PDF, instead of `text`.",
            json_schema_extra={"contentEncoding": "base64"},
        ),
    ] = None
    source_id: Annotated[SourceId | None, Field(description="The id under which it is cited.")] = None
    kind: Annotated[SourceKind | None, Field(description="The kind of file, if its name does not tell it.")] = None
    round: Annotated[Whole | None, Field(ge=1, le=3, description="The round of a review in which seats get it.")] = None

    @model_validator(mode="after")
    def _has_one(self) -> EvidenceSource:
        if (self.text is None) == (self.content is None):
            raise ValueError("give either text or content")
        return self

    @property
    def raw(self) -> str | bytes:
        """The text, or the bytes of the file."""
        return base64.b64decode(self.content) if self.content is not None else self.text or ""


FormatField = Annotated[SerializeAsAny[FormatOptions], BeforeValidator(parse_format)]


class DebateRequest(Options):
    """A debate to run."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"motion": "A startup with fewer than ten people should build microservices from day one"},
                {
                    "motion": "We should sign this contract",
                    "format": {"name": "review", "preset": "contract-risk"},
                    "seats": {"all": "openai:gpt-5", "moderator": "anthropic:claude-sonnet-5-5"},
                    "evidence": [{"title": "contract.md", "text": "The fee is due within 14 days."}],
                    "budget": {"usd": "0.50"},
                },
                {"format": {"name": "market", "as_of": "2008-10-31"}},
            ]
        },
    )

    motion: str = option(
        "",
        "The question or proposition. A market debate without one asks whether its subject will rise.",
        max_length=4_000,
        key="",
        flag="",
        variable="",
    )
    topic: Word | None = option(
        None, "The name of a built-in motion, instead of a motion of your own.", key="", variable="", metavar="NAME"
    )
    format: FormatField = option(
        default_factory=Structured,
        help="The format, by its name or with its options.",
        key="",
        variable="",
        metavar="NAME",
    )
    seats: Annotated[dict[Word, Sentence], Field(max_length=100)] = option(
        default_factory=dict,
        help="The model in each seat, as PROVIDER:MODEL. all covers every seat.",
        key="seats.<seat>",
        flag="--seat",
        variable="",
        metavar="SEAT=PROVIDER:MODEL",
        missing="who sits where",
        read=reading.seat_value,
        repeat=True,
        examples=["all=ollama:qwen3:8b"],
    )
    people: Annotated[Many[Word], Field(max_length=40)] = option(
        (),
        "The seats that people take. all and the name of a team cover several seats.",
        key="",
        flag="--human",
        variable="",
        metavar="SEAT",
        repeat=True,
        examples=["pro_2"],
    )
    evidence: Annotated[Many[EvidenceSource], Field(max_length=200)] = option(
        (),
        "Sources that seats may cite: text, Markdown, HTML, PDF or JSON.",
        key="",
        variable="",
        metavar="PATH",
        repeat=True,
    )
    language: Word | None = option(
        None,
        "The language of the debate, by its name or tag. The default is English.",
        metavar="L",
        read=reading.language,
        examples=["German"],
    )
    seed: Whole | None = option(None, "A seed for models that take one.", ge=0, le=MOST_SEED, metavar="N")
    judging: Judging = Field(default=Judging(), description="How the debate is judged.")
    budget: Budget = Field(default=Budget(), description="Ceilings, which are never passed.")
    limits: Limits = Field(default=Limits(), description="Limits of turns.")
    tools: Tools = Field(default=Tools(), description="What seats may look up before they speak.")
    baseline: str | None = option(
        None,
        "Baselines to compare the debate with: single, vote (at the debate's token cost), freeform, or all.",
        key="",
        variable="",
        metavar="NAMES",
        max_length=60,
    )
    prompts: str | None = option(
        None,
        "A folder of prompt files that replace packaged ones. They are recorded.",
        key="",
        variable="",
        metavar="FOLDER",
        max_length=4_000,
        local=FILE,
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The schema with the options of every format that is known now."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        about = schema["properties"]["format"].get("description", "")
        schema["properties"]["format"] = {"description": about, "default": "structured", **format_schema()}
        return schema

    def as_json(self) -> dict[str, Any]:
        """The request as JSON, without what is left to the configuration."""
        body = self.model_dump(mode="json", exclude_unset=True, exclude_none=True)
        body.pop("format", None)
        if "format" in self.model_fields_set:
            own = self.format.model_dump(mode="json", exclude_unset=True, exclude_none=True)
            body["format"] = {"name": self.format.name, **own} if own.keys() - {"name"} else self.format.name
        return {name: value for name, value in body.items() if value not in ({}, [])}
