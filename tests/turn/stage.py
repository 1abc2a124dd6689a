"""A stage for one session: a scripted model, fake tools, a clock turned by hand, and a journal that outlives it all."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from oribi.core.calls import JsonObject, SessionId
from oribi.core.errors import ConfigError
from oribi.core.events import Event, FilesRead, SessionOpened
from oribi.core.messages import ModelChoice
from oribi.core.modes import Command, Mode
from oribi.core.policy import LoopPolicy
from oribi.models.answers import AnswerChecker
from oribi.ports import AgentSnapshot, Journal, Model, Ports
from oribi.testing import FakeTools, ManualClock, MemoryJournal
from oribi.testing.fake_tools import Function
from oribi.turn.session import Session, open_session

SESSION = SessionId("s1")
OPENING = SessionOpened(agent="ops", principal="me", channel="test")
DEMO = ModelChoice(provider="scripted", name="demo", wire="scripted")
NOTHING_READ = FilesRead(bootstrap="", skills="", memory="", memory_read=0, sources=())


@dataclass
class OneAgent:
    """The `Agents` port with one agent; `files` is what the prompt's files say at the moment.

    `modes` are the policies of its modes by name, `routes` those that a router chooses from.
    """

    tools: FakeTools
    policy: LoopPolicy = field(default_factory=LoopPolicy)
    files: FilesRead = NOTHING_READ
    instructions: str = "You are ops."
    fallbacks: tuple[ModelChoice, ...] = ()
    output_schema: JsonObject | None = None
    modes: dict[str, LoopPolicy] = field(default_factory=dict[str, LoopPolicy])
    routes: tuple[Mode, ...] = ()
    commands: tuple[Command, ...] = ()

    def load(self, name: str, mode: str = "") -> AgentSnapshot:
        return AgentSnapshot(
            name=name,
            description="",
            model=DEMO,
            policy=self.modes[mode] if mode else self.policy,
            tools=self.tools.specs(),
            instructions=self.instructions,
            fallbacks=self.fallbacks,
            output_schema=self.output_schema,
            mode=mode,
            routes=() if mode else self.routes,
            commands=self.commands,
        )

    def read_files(self, agent: str, policy: LoopPolicy, principal: str) -> FilesRead:
        return self.files


@dataclass
class SomeModels:
    """The `Models` port: the agent's model, and others by provider."""

    model: Model
    others: Mapping[str, Model]

    def get(self, choice: ModelChoice) -> Model:
        if choice.ref == DEMO.ref:
            return self.model
        if choice.provider not in self.others:
            raise ConfigError(f"no provider named {choice.provider!r}")
        return self.others[choice.provider]


MADE: list["Stage"] = []
"""The stages of the test that runs."""


class Stage:
    """Everything a session needs. `open` again after a crash: the journal is what stays."""

    def __init__(
        self,
        model: Model,
        functions: Mapping[str, Function] | None = None,
        *,
        policy: LoopPolicy | None = None,
        journal: Journal | None = None,
        others: Mapping[str, Model] | None = None,
    ) -> None:
        MADE.append(self)
        self.tools = FakeTools(functions or {})
        self.agents = OneAgent(self.tools, policy or LoopPolicy(retry_seconds=0.0))
        self.clock = ManualClock()
        self.journal = journal or MemoryJournal()
        self.ports = Ports(
            agents=self.agents,
            models=SomeModels(model, others or {}),
            tools=self.tools,
            journal=self.journal,
            clock=self.clock,
            check_answer=AnswerChecker(),
        )

    async def open(self) -> Session:
        return await open_session(self.ports, SESSION, OPENING)

    def events(self) -> list[Event]:
        """What is durable."""
        return [record.event for record in self.journal.read(SESSION)]

    def names(self) -> list[str]:
        return [type(event).__name__ for event in self.events()]
