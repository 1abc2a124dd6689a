"""What the runtime needs from outside, as small Protocols. Adapters provide them; `app.py` puts them together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from oribi.core.budget import Limits, Spent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from oribi.core.calls import CallId, Json, JsonObject, SessionId, ToolCall, ToolResult, ToolSpec, TurnId, Verdict
    from oribi.core.events import FilesRead, Recorded, SessionOpened
    from oribi.core.mail import Input, Letter, Mail
    from oribi.core.messages import ModelChoice, Reply
    from oribi.core.modes import Command, Mode
    from oribi.core.policy import LoopPolicy
    from oribi.core.prompt import Prompt
    from oribi.core.results import TurnResult


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A fragment of the answer, live."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta:
    """A fragment of readable reasoning, live."""

    text: str


Delta: TypeAlias = TextDelta | ReasoningDelta
"""A live fragment for listeners; it may be lost and is never recorded (ADR 0008)."""

Listen: TypeAlias = Callable[[Delta], None]


class Request(Protocol):
    """The bytes of one model call, made before they are sent so that their hash can be recorded first."""

    @property
    def body(self) -> bytes:
        """The exact bytes to send."""
        ...

    @property
    def sha256(self) -> str:
        """SHA-256 of `body`, hex."""
        ...


class Model(Protocol):
    """A model behind a wire. It only translates: it runs no tool and repeats no call (O-33, Y-10)."""

    def build_request(self, prompt: Prompt, previous: Request | None) -> Request:
        """The request for `prompt`. Pure. `previous` is this session's last request, for its encoded parts."""
        ...

    async def reply(self, request: Request, listen: Listen) -> Reply:
        """Send `request` and return the finished reply.

        Raises:
            ModelError: There is no reply; the error says why.

        """
        ...


class Models(Protocol):
    """All models by their choice."""

    def get(self, choice: ModelChoice) -> Model:
        """The model for `choice`.

        Raises:
            ConfigError: The provider is not known, or its key is missing.

        """
        ...


class Nest(Protocol):
    """Runs turns within the call of a tool (M-42): each in a session of its own, of which `call` is the parent."""

    async def __call__(self, call: Invocation, agent: str | AgentSnapshot, given: Input, part: str = "") -> TurnResult:
        """Give `agent`, one of the workspace or one made for this, its input, and bring the turn to its end.

        The turn spends of what the call's turn has left, and cannot loosen anything (M-17). The same `part` of the same
        call is the same turn: run again after a crash, it goes on or gives what it gave.

        Raises:
            ConfigError: There is no such agent, or it has a tool that the calling turn has not.

        """
        ...


def _charge_nobody(spent: Spent, child: SessionId) -> None:
    """Let go of what was spent: a tool that is run outside a turn."""
    del spent, child


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """Which call is being run: what a tool needs beyond its arguments.

    `key` is the call's stable idempotency key, made of session, turn, step and call (G1). `agent` is the agent's name,
    `principal` the person it acts for; `model` answers it, and `catalogue` is its turn's. `nest` runs a turn within the
    call, None outside of a turn; such a turn may spend `limits()`, which is what is left at that moment, has to
    `charge` what it has spent so far, all told (M-17), and would be the `depth`th turn within another, from 1.
    `is_stopping` tells a call that is cut off whether its turn ends, and not just this process.
    """

    session_id: SessionId
    turn_id: TurnId
    step: int
    call_id: CallId
    agent: str
    policy: LoopPolicy
    principal: str = ""
    limits: Callable[[], Limits] = Limits
    depth: int = 1
    model: ModelChoice | None = None
    catalogue: Mapping[str, ToolSpec] = field(default_factory=dict[str, "ToolSpec"])
    charge: Callable[[Spent, SessionId], None] = _charge_nobody
    is_stopping: Callable[[], bool] = bool
    nest: Nest | None = None

    @property
    def key(self) -> str:
        """The same for every attempt of this call, different for every other call."""
        return f"{self.session_id}/{self.turn_id}/{self.step}/{self.call_id}"


class Tools(Protocol):
    """Where calls are judged and run."""

    def judge(self, catalogue: Mapping[str, ToolSpec], call: ToolCall, agent: str) -> Verdict:
        """Whether `call` may run. Only what stands in `catalogue` can (C-22). Pure but for facts about files."""
        ...

    async def run(self, call: ToolCall, spec: ToolSpec, invocation: Invocation) -> ToolResult:
        """Run an allowed call. Never raises for what a tool does wrong: that is a `Failed`."""
        ...

    async def probe(self, call: ToolCall, spec: ToolSpec, invocation: Invocation) -> ToolResult | None:
        """What came of a `reconcilable` call that was cut off: its result, None if it did not happen, or `Unknown`.

        Repeatable, and never raises for what a probe does wrong: that is an `Unknown`.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSnapshot:
    """An agent as one turn sees it. `lock` is what shapes it, by hash (G13).

    `mode` is the mode it was loaded in, empty for none. With `routes`, the model chooses one of these modes first
    (M-5). `commands` are inputs that need no model (M-3).
    """

    name: str
    description: str
    model: ModelChoice
    policy: LoopPolicy
    tools: tuple[ToolSpec, ...]
    instructions: str
    fallbacks: tuple[ModelChoice, ...] = ()
    output_schema: JsonObject | None = None
    lock: JsonObject | None = None
    mode: str = ""
    routes: tuple[Mode, ...] = ()
    commands: tuple[Command, ...] = ()


class Agents(Protocol):
    """Where agents come from."""

    def load(self, name: str, mode: str = "") -> AgentSnapshot:
        """The agent, in one of its modes, as its files are now.

        A broken edit leaves the last good version in force and says so once.

        Raises:
            ConfigError: There is no such agent or mode, or it never loaded.

        """
        ...

    def read_files(self, agent: str, policy: LoopPolicy, principal: str) -> FilesRead:
        """The prompt's files as they are now: bootstrap, skills and memory of the agent, or of the `principal`."""
        ...


class Journal(Protocol):
    """The append-only record of events; the truth."""

    async def open_session(self, session_id: SessionId) -> int:
        """Take the session over as its one writer: raise its epoch and return it. A new session starts at 1.

        Raises:
            SessionBusy: Another worker that is alive drives it.

        """
        ...

    def joining_letters(self, session_id: SessionId, after: int) -> Sequence[Letter]:
        """What waits for the session's open turn with a number > `after`, in the order it came: no inputs."""
        ...

    def read(self, session_id: SessionId, after: int = 0) -> list[Recorded]:
        """The session's records with `seq` > `after`, in order. Empty when there is no such session.

        Raises:
            JournalError: A record cannot be read.

        """
        ...

    async def append(self, session_id: SessionId, epoch: int, records: Sequence[Recorded]) -> None:
        """Make `records` durable, all or none. Returns when they are; a cancelled caller gets its answer first.

        Raises:
            LeaseLost: Another writer has taken the session over; nothing was written.
            JournalError: They could not be written (disk full, read-only, locked); nothing was written.

        """
        ...


class TurnQueue(Protocol):
    """Who drives which session, and what waits for it: the seam to several processes, and later to several hosts.

    Claiming a session is `Journal.open_session`, and the guard of every write is `Journal.append`: both compare epochs.
    """

    def driving(self) -> AbstractContextManager[None]:
        """Say that a session is being driven while the block runs."""
        ...

    def is_current(self, session_id: SessionId) -> bool:
        """Whether the lease this process had on the session still holds: nobody has claimed it since."""
        ...

    def is_free(self, session_id: SessionId) -> bool:
        """Whether no other worker that is alive drives the session."""
        ...

    async def let_go(self, session_id: SessionId) -> None:
        """Let others drive the session, if this worker holds it; a turn that ends lets go by itself."""
        ...

    def close_session(self, session_id: SessionId) -> None:
        """Forget what is kept in memory of a session that is not driven any more."""
        ...

    async def post(
        self, session_id: SessionId, mail: Mail, opening: SessionOpened, *, client_key: str | None = None
    ) -> int:
        """Let mail wait for whoever drives the session, now or next; its number. Once for one `client_key`."""
        ...

    def letters(self, session_id: SessionId) -> Sequence[Letter]:
        """What waits for the session, in the order it came."""
        ...

    def taken_at(self, number: int) -> int | None:
        """The `seq` of the record that used the letter; None while it waits. `LookupError`: it was withdrawn."""
        ...

    async def withdraw(self, number: int) -> bool:
        """Take a letter back; False when it was used already."""
        ...

    def unfinished(self) -> Sequence[SessionId]:
        """Sessions with an open turn or waiting inputs that nobody drives, the oldest first."""
        ...

    def listen(self, heard: Callable[[], None]) -> None:
        """Call `heard` in this event loop soon after another process has posted mail. It may be called for nothing."""
        ...


class Clock(Protocol):
    """Time."""

    def now(self) -> int:
        """Microseconds since the epoch, UTC."""
        ...

    def local_line(self) -> str:
        """The date-and-time line of the prompt, in the configured zone, at minute resolution (C-16)."""
        ...


CheckAnswer: TypeAlias = "Callable[[JsonObject, str], tuple[Json, str | None]]"
"""Holds an answer against a JSON Schema: the parsed value, and what is wrong with it (None: it fits)."""


class Quota(Protocol):
    """What each person may spend in a day, all sessions and processes together (M-16)."""

    def spent(self, principal: str, now: int) -> str | None:
        """The name of the limit that leaves no room for another model call at the time `now`, or None."""
        ...

    def tool_calls_left(self, principal: str, now: int) -> int | None:
        """How many more tool calls may start; None means any number."""
        ...


class NoQuota:
    """Nobody's spending is bounded."""

    def spent(self, principal: str, now: int) -> str | None:
        """None."""
        del principal, now

    def tool_calls_left(self, principal: str, now: int) -> int | None:
        """None."""
        del principal, now


NO_QUOTA = NoQuota()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Everything a turn may touch."""

    agents: Agents
    models: Models
    tools: Tools
    journal: Journal
    clock: Clock
    check_answer: CheckAnswer
    quota: Quota = NO_QUOTA
    nest: Nest | None = None
