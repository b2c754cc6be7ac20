"""What a provider's refusal of a request means: from status, codes and words to a kind of fault.

The rules, in order; the first that fits decides:

1.  The prompt does not fit the model's context, or one
    request is over the account's limit for a minute     -> CONTEXT_TOO_LONG
2.  The account's quota, credit or balance is used up    -> QUOTA_EXHAUSTED
3.  A filter declined the content                        -> REFUSED
4.  The model failed to keep to the schema               -> GARBLED (another try may succeed)
5.  This way of asking for structure is not taken        -> SCHEMA_UNSUPPORTED (only in such a mode)
6.  The model is unknown, or not open to this account    -> NO_SUCH_MODEL
7.  This network or country is not served                -> BAD_REQUEST
    The key is not accepted                              -> KEY_REJECTED
8.  Too many requests for now                            -> RATE_LIMITED
9.  The request took too long on the server (408)        -> TIMED_OUT
10. The server failed (5xx, and 409, 424, 425)           -> SERVER_ERROR
11. A 404 about nothing else                             -> NO_SUCH_MODEL (or the address is wrong)
12. Anything else                                        -> BAD_REQUEST

Causes come before statuses because providers disagree about statuses: a used-up balance is a 429 at OpenAI
and Z.ai, a 402 at DeepSeek and a 400 at Anthropic; an unknown model is a 404 or a 400.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from disputatio.participants.call import FaultKind, OutputMode

_CONTEXT_CODES: Final = {"context_length_exceeded", "exceed_context_size_error", "request_too_large", "3051"}
_CONTEXT_WORDS = re.compile(
    r"maximum context length|context (?:length|size|window)|reduce the length of the (?:messages|prompt)"
    r"|prompt is too long|input is too long|input token(?:s| count)\b.{0,40}exceed|too many (?:input )?tokens"
    r"|exceeds? the (?:model'?s? )?(?:maximum|max) (?:number of )?(?:input )?tokens|too large for model",
    re.IGNORECASE,
)
_TOO_LARGE_FOR_A_MINUTE = re.compile(
    r"request too large for|request is too large|tokens per minute.{0,40}requested \d+.{0,60}reduce", re.IGNORECASE
)
"""One request over the limit of a minute: OpenAI and Groq call it a rate limit, and waiting does not cure it."""
_QUOTA_CODES: Final = {
    # OpenAI: https://platform.openai.com/docs/guides/error-codes
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
    # Moonshot; Anthropic; Bedrock.
    "exceeded_current_quota_error",
    "billing_error",
    "servicequotaexceededexception",
}
_ZHIPU_QUOTA_CODES: Final = {"1112", "1113"} | {str(code) for code in range(1308, 1322)} - {"1312"}
"""Account in arrears, balance or plan used up; https://docs.z.ai/api-reference/api-code."""
_QUOTA_WORDS = re.compile(
    r"insufficient[ _](?:balance|credits?|funds|quota)|credit balance is too low|out of credits"
    r"|balance is (?:not enough|insufficient)|余额不足|欠费",
    re.IGNORECASE,
)
_FILTER_CODES: Final = {
    "content_filter",
    "content_policy_violation",
    "invalid_prompt",
    "data_inspection_failed",
    "responsibleaipolicyviolation",
    "content_filtered",
}
_FILTER_WORDS = re.compile(
    r"content management policy|content exists risk|flagged (?:by|for|as)|requires moderation|safety (?:system|filter)"
    r"|usage polic(?:y|ies)|敏感内容",
    re.IGNORECASE,
)
_MISSED_SCHEMA_CODES: Final = {"json_validate_failed", "tool_use_failed"}
_NATIVE_WORDS = re.compile(
    r"response[ _]format|json[ _-]?schema|structured[ _]output|output_(?:config|format)|response_?(?:json_?)?schema"
    r"|response mime|guided[ _]|grammar|\bschema\b",
    re.IGNORECASE,
)
_TOOL_WORDS = re.compile(
    r"\btools?\b|tool[ _](?:choice|use|call)|function[ _]call|\bfunctions?\b|--jinja|\bschema\b", re.IGNORECASE
)
_NO_ROUTE_WORDS = re.compile(r"no endpoints found that", re.IGNORECASE)
_MODEL_CODES: Final = {"model_not_found", "model_not_exist", "resourcenotfoundexception", "invalid_model"}
_MODEL_WORDS = re.compile(
    r"\bmodels?\b.{0,120}?(?:not found|(?:does|do|did) ?n[o']t exist|not exist|is not (?:available|served|accessible)"
    r"|no longer available|not supported for generatecontent)"
    r"|(?:invalid|unknown|no such|unsupported) model\b|not a valid model|model identifier is invalid"
    r"|not have access to (?:the )?model|模型不存在|no models? (?:is |are )?loaded|model (?:is )?not loaded",
    re.IGNORECASE | re.DOTALL,
)
_ELSEWHERE_CODES: Final = {"unsupported_country_region_territory", "unsupported_country", "region_not_supported"}
_ELSEWHERE_WORDS = re.compile(
    r"country, region, or territory not supported|not (?:available|supported) in your (?:country|region|location)"
    r"|user location is not supported|attention required! \| cloudflare|just a moment\.\.\.|cloudflare"
    r"|error code:? (?:1009|1010|1015|1020)\b|access denied \| .+ used cloudflare",
    re.IGNORECASE,
)
"""A gate before the provider, or a provider that does not serve a country: the key is not to blame."""
_KEY_CODES: Final = {"invalid_api_key", "api_key_invalid", "authentication_error", "unauthenticated"}
_RATE_CODES: Final = {"rate_limit_exceeded", "rate_limit_error", "too_many_requests", "throttlingexception"}
_SERVER_CODES: Final = {
    "server_error",
    "internal_error",
    "internal_server_error",
    "api_error",
    "overloaded",
    "overloaded_error",
    "server_is_overloaded",
    "service_unavailable",
    "service_unavailable_error",
    "unavailable",
    "internal",
    "timeout_error",
}


_NOT_LOADED = re.compile(r"no models? (?:is |are )?loaded|model (?:is )?not loaded", re.IGNORECASE)
"""LM Studio and others, under whatever status: no waiting loads a model."""


def not_served_from_here(words: str) -> bool:
    """Whether a refusal's sentence blames the network or country that the call came from."""
    return _ELSEWHERE_WORDS.search(words) is not None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A provider's refusal, as far as it can be read.

    Attributes:
        status: the HTTP status, or the one the provider uses for the same cause; None where none is known.
        codes: machine-readable words of the body, in lower case.
        words: the sentence for people, uncut.
        quota: whether the provider library already knows that a quota is used up.
        zhipu: whether the provider's numeric codes are Zhipu's (Z.ai's).
    """

    status: int | None
    codes: frozenset[str] = frozenset()
    words: str = ""
    quota: bool = False
    zhipu: bool = False

    def kind(self, mode: OutputMode | None) -> FaultKind:
        """The kind of fault for a call that asked for structure by ``mode``."""
        return self.cause(mode) or self._by_status()

    def cause(self, mode: OutputMode | None) -> FaultKind | None:
        """What codes and words say on their own, or None where only the status can tell."""
        refusable = self.status is None or self.status < 500
        # A rate limit also speaks of too many tokens, so words count only beside a status for bad requests.
        if self.codes & _CONTEXT_CODES or (
            self.status in (None, 400, 413, 422, 500) and _CONTEXT_WORDS.search(self.words)
        ):
            return FaultKind.CONTEXT_TOO_LONG
        if self._is_quota():
            return FaultKind.QUOTA_EXHAUSTED
        if refusable and (self._names(_FILTER_CODES, _FILTER_WORDS) or (self.zhipu and "1301" in self.codes)):
            return FaultKind.REFUSED
        if self.status in (None, 413, 429) and _TOO_LARGE_FOR_A_MINUTE.search(self.words):
            return FaultKind.CONTEXT_TOO_LONG
        if self.codes & _MISSED_SCHEMA_CODES:
            return FaultKind.GARBLED
        if self._is_about_structure(mode):
            return FaultKind.SCHEMA_UNSUPPORTED
        if (
            refusable
            and (self.status != 429 or _NOT_LOADED.search(self.words))
            and (self._names(_MODEL_CODES, _MODEL_WORDS) or (self.zhipu and "1211" in self.codes))
        ):
            return FaultKind.NO_SUCH_MODEL
        if self.codes & _ELSEWHERE_CODES or (self.status in (400, 403, 451) and not_served_from_here(self.words)):
            return FaultKind.BAD_REQUEST
        if self.codes & _KEY_CODES:
            return FaultKind.KEY_REJECTED
        if self.codes & _RATE_CODES:
            return FaultKind.RATE_LIMITED
        return None

    @property
    def is_server_failure(self) -> bool:
        """Whether status or codes lay it on the server."""
        return bool(self.codes & _SERVER_CODES) or (self.status is not None and self.status >= 500)

    def _by_status(self) -> FaultKind:
        match self.status:
            case 401 | 403:
                return FaultKind.KEY_REJECTED
            case 402:
                return FaultKind.QUOTA_EXHAUSTED
            case 404:
                return FaultKind.NO_SUCH_MODEL
            case 408:
                return FaultKind.TIMED_OUT
            case 409 | 424 | 425:
                return FaultKind.SERVER_ERROR
            case 413:
                return FaultKind.CONTEXT_TOO_LONG
            case 429:
                return FaultKind.RATE_LIMITED
            case _ if self.is_server_failure:
                return FaultKind.SERVER_ERROR
            case _:
                return FaultKind.BAD_REQUEST

    def _is_quota(self) -> bool:
        return (
            self.quota
            or bool(self.codes & _QUOTA_CODES)
            or (self.zhipu and bool(self.codes & _ZHIPU_QUOTA_CODES))
            # Words alone count only beside a status that can mean money: a debate may be about credit.
            or (self.status in (400, 402, 403, 429) and bool(_QUOTA_WORDS.search(self.words)))
        )

    def _is_about_structure(self, mode: OutputMode | None) -> bool:
        words = {OutputMode.NATIVE: _NATIVE_WORDS, OutputMode.TOOL: _TOOL_WORDS}.get(mode) if mode else None
        if words is None or self.status in (401, 402, 403, 429):
            return False
        if self.status == 404:
            # OpenRouter's answer when no host of the model takes a parameter.
            return bool(_NO_ROUTE_WORDS.search(self.words))
        if self.is_server_failure and "--jinja" not in self.words and "not support" not in self.words:
            # llama.cpp's server reports a template without tools as a 500.
            return False
        return bool(words.search(self.words))

    def _names(self, codes: set[str], words: re.Pattern[str]) -> bool:
        return bool(self.codes & codes) or bool(words.search(self.words))
