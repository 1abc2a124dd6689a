"""Kills a program at every write and around every effect, continues it, and holds what came of it against a witness.

A `Matrix` is one workspace in which many sessions die and go on; `Verdict` counts what was promised (G1, G2) and what
came of it, one for each effect class.
"""

import json
import random
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, cast

import apsw

from oribi.agents.workspace import init_workspace
from oribi.core.calls import EffectClass, Json, SessionId, Succeeded, ToolResult, Unknown, told
from oribi.core.ends import Completed
from oribi.core.events import Recorded
from oribi.core.messages import Reply, ToolMessage
from oribi.core.turn import fold
from oribi.journal.database import execute
from oribi.journal.sqlite import SqliteJournal
from tests.crash.child import Life, Lived, Mode, fingerprint, marks

CLASSES: dict[str, EffectClass] = {"look": "pure", "put": "idempotent", "book": "reconcilable", "send": "once"}
"""Each tool of the child, and its effect class."""
AGENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    **{name: ((name,), (name, name)) for name in CLASSES},
    "mixed": (("look",), ("send", "put"), ("book", "send"), ("put", "look")),
}
"""What each agent's model asks for, reply by reply; then it answers."""
ANSWER = "All of it is done."
PLACES = ("before-append", "after-append", "before-effect", "after-effect")
MOST_LIVES = 12
"""A turn that has not ended after so many processes is a turn that does not end."""


@dataclass
class Verdict:
    """What came of the sessions of one effect class. `problems` says each breach in words."""

    points: int = 0
    kills: int = 0
    lost: int = 0
    duplicated: int = 0
    reported: int = 0
    silent: int = 0
    problems: list[str] = field(default_factory=list[str])

    def add(self, other: "Verdict") -> None:
        """Add what came of another session."""
        self.points += other.points
        self.kills += other.kills
        self.lost += other.lost
        self.duplicated += other.duplicated
        self.reported += other.reported
        self.silent += other.silent
        self.problems += other.problems


class ForkServer:
    """A process that has imported everything and forks for each life."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.crash.child"]
        root = Path(__file__).parents[2]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root)

    def live(self, lives: Sequence[Life]) -> list[Lived]:
        """Let processes live, all at once, to their ends."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(lives) + "\n")
        self._process.stdin.flush()
        return cast("list[Lived]", json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the server."""
        self._process.communicate(timeout=30)


@contextmanager
def fork_server() -> Generator[ForkServer]:
    """A fork server while the block runs."""
    server = ForkServer()
    try:
        yield server
    finally:
        server.close()


class Matrix:
    """One workspace, in which sessions are killed and continued. `lies` takes the write-ahead away."""

    def __init__(self, server: ForkServer, root: Path, *, lies: bool = False) -> None:
        self._server = server
        self._root = root
        self._lies = lies
        self._agents: dict[str, str] = {}
        self._kills: Counter[str] = Counter()
        self._acknowledged: defaultdict[str, dict[int, str]] = defaultdict(dict)
        self._rewritten: list[str] = []
        write_workspace(root)

    def life(self, session: str, *, mode: Mode = "run", place: str = "", number: int = 0, seconds: float = 0.0) -> Life:
        """One process for a session that `add` knows."""
        agent = self._agents[session]
        return {
            "workspace": str(self._root),
            "session": session,
            "agent": agent,
            "mode": mode,
            "place": place,
            "number": number,
            "seconds": seconds,
            "lies": self._lies,
        }

    def add(self, session: str, agent: str) -> str:
        """Name a session and its agent."""
        self._agents[session] = agent
        return session

    def live(self, lives: Sequence[Life]) -> list[Lived]:
        """Let processes live, and note what they said was durable, and which were killed."""
        all_lived = self._server.live(lives)
        for life, lived in zip(lives, all_lived, strict=True):
            self._kills[life["session"]] += lived["signal"] == signal.SIGKILL
            for line in lived["said"]:
                match line.split():
                    case ["durable", session, seq, what]:
                        known = self._acknowledged[session].setdefault(int(seq), what)
                        if known != what:
                            self._rewritten.append(f"{session}: record {seq} was {known} and then {what}")
                    case ["broke" | "refused", *_] if "SessionBusy" not in line and "no open turn" not in line:
                        self._rewritten.append(f"{life['session']}: {line}")
                    case _:
                        pass
        return all_lived

    def run_through(self, places: Iterable[tuple[str, str, str, int]], *, at_once: int = 2) -> None:
        """Kill each session (its name, agent, place and number), and continue it in new processes to its end."""
        waiting = [
            self.life(self.add(session, agent), place=place, number=number) for session, agent, place, number in places
        ]
        while waiting:
            batch, waiting = waiting[:at_once], waiting[at_once:]
            self.live(batch)
            for _ in range(MOST_LIVES):
                batch = [life for life in batch if not self.has_ended(life["session"])]
                if not batch:
                    break
                batch = [self.life(life["session"]) for life in batch]
                self.live(batch)

    def run_wild(self, sessions: Sequence[tuple[str, str]], chance: random.Random, *, most_kills: int) -> int:
        """Start sessions and kill their processes at random, in place or by time; then racing workers end them.

        No session is killed more than twice by name, so that no call is started more often than its policy allows.
        Returns the number of kills.
        """
        before = self._kills.total()
        for session, agent in sessions:
            self.add(session, agent)
        for _ in range(2):
            batch = [self.life(name, **self._death(chance)) for name, _ in sessions if not self.has_ended(name)]
            while batch and self._kills.total() - before < most_kills:
                left = most_kills - (self._kills.total() - before)
                self.live(batch[: min(2, left)])
                batch = batch[2:]
        last = [name for name, _ in sessions if not self.has_begun(name)]
        for name in last:
            self.live([self.life(name)])
        name = sessions[0][0]
        for _ in range(MOST_LIVES):
            if all(self.has_ended(each) for each, _ in sessions):
                break
            self.live([self.life(name, mode="work"), self.life(name, mode="work")])
        return self._kills.total() - before

    def _death(self, chance: random.Random) -> "_Death":
        if chance.random() < 0.5:
            return {"place": "", "number": 0, "seconds": chance.uniform(0.01, 0.12)}
        place = chance.choice(PLACES)
        return {"place": place, "number": chance.randint(1, 8 if "append" in place else 3), "seconds": 0.0}

    def has_begun(self, session: str) -> bool:
        """Whether anything of the session is durable."""
        return bool(self.records(session))

    def has_ended(self, session: str) -> bool:
        """Whether the session's turn has ended."""
        return fold(SessionId(session), self.records(session)).end is not None

    def records(self, session: str) -> list[Recorded]:
        """The session's records, verified; none before the first process has made the database."""
        if not self._database.exists():
            return []
        journal = SqliteJournal(self._database, read_only=True)
        try:
            return journal.read(SessionId(session))
        finally:
            journal.close()

    @property
    def _database(self) -> Path:
        return self._root / ".oribi" / "oribi.db"

    def verdicts(self) -> dict[str, Verdict]:
        """What came of every session, by agent; the database is whole, or this says what is not."""
        verdicts: defaultdict[str, Verdict] = defaultdict(Verdict)
        effects = Counter(marks(self._root / "witness"))
        read = {tuple(line.split(" ", 2)[:2]): line.split(" ", 2)[2] for line in marks(self._root / "told")}
        for session, agent in self._agents.items():
            verdicts[agent].add(self._verdict(session, agent, effects, read))
        whole = Verdict(problems=[*self._rewritten, *self._broken()])
        next(iter(verdicts.values())).add(whole)
        return dict(verdicts)

    def _broken(self) -> list[str]:
        connection = apsw.Connection(str(self._database))
        try:
            said = [str(row[0]) for row in execute(connection, "PRAGMA integrity_check")]
        finally:
            connection.close()
        return [] if said == ["ok"] else said

    def _verdict(self, session: str, agent: str, effects: Counter[str], read: dict[tuple[str, ...], str]) -> Verdict:
        records = self.records(session)
        verdict = Verdict(points=1, kills=self._kills[session])
        durable = {record.seq: fingerprint(record) for record in records}
        for seq, what in self._acknowledged[session].items():
            if durable.get(seq) != what:
                verdict.lost += 1
                verdict.problems.append(f"{session}: record {seq} ({what}) was durable and is {durable.get(seq)}")
        turn = fold(SessionId(session), records)
        if turn.end != Completed(text=ANSWER):
            verdict.problems.append(f"{session}: the turn ended {turn.end}")
        step, results = 0, list[tuple[str, str, ToolResult]]()
        for message in turn.messages:
            step += isinstance(message, Reply)
            if isinstance(message, ToolMessage):
                results.append((f"{session}/t1/{step}/{message.call_id}", message.name, message.result))
                if (said := read.get((session, message.call_id))) != json.dumps(told(message.result)):
                    verdict.silent += 1
                    verdict.problems.append(f"{session}: the model read {said} of {message.call_id}")
        asked = [name for reply in AGENTS[agent] for name in reply]
        if [name for _, name, _ in results] != asked:
            verdict.problems.append(f"{session}: the calls were {[name for _, name, _ in results]}")
        for key, name, result in results:
            _judge(verdict, key, CLASSES[name], result, effects[key])
        for key in effects.keys() - {key for key, _, _ in results}:
            if key.startswith(f"{session}/"):
                verdict.silent += 1
                verdict.problems.append(f"{key}: an effect that no call stands for")
        return verdict


def _judge(verdict: Verdict, key: str, effect: EffectClass, result: ToolResult, count: int) -> None:
    """Hold one call's result against what the witness counted."""
    match effect, result:
        case (("once" | "reconcilable"), _) if count > 1:
            verdict.duplicated += 1
            verdict.problems.append(f"{key}: a {effect} effect happened {count} times")
        case "once", Unknown():
            verdict.reported += 1
        case _, Succeeded() if count >= 1:
            pass
        case "once", _:
            verdict.silent += 1
            verdict.problems.append(f"{key}: {count} effects, and the model was told {told(result)!r}")
        case _:
            verdict.problems.append(f"{key}: a {effect} call, {count} effects, ended {told(result)!r}")


class _Death(TypedDict):
    place: str
    number: int
    seconds: float


def write_workspace(root: Path) -> None:
    """A workspace with an agent for each effect class, and one for all."""
    init_workspace(root)
    for agent, replies in AGENTS.items():
        folder = root / ".oribi" / "agents" / agent
        folder.mkdir()
        (folder / "AGENT.md").write_text(f"---\nname: {agent}\nmodel: scripted:{agent}.json\n---\nYou are {agent}.\n")
        calls: list[Json] = [{"calls": [{"name": name, "arguments": {}} for name in reply]} for reply in replies]
        script = json.dumps({"replies": [*calls, {"text": ANSWER}]})
        (root / ".oribi" / f"{agent}.json").write_text(script)


def writes_of(agent: str) -> int:
    """The appends of an uninterrupted turn of the agent."""
    return 2 + sum(1 + len(reply) for reply in AGENTS[agent])


def every_place(agent: str) -> list[tuple[str, str, str, int]]:
    """A session for each place at which the agent's turn can die."""
    writes = range(1, writes_of(agent) + 1)
    calls = range(1, sum(map(len, AGENTS[agent])) + 1)
    return [
        (f"{agent}-{place}-{number}", agent, place, number)
        for place in PLACES
        for number in (writes if "append" in place else calls)
    ]


def table(verdicts: dict[str, Verdict]) -> str:
    """The verdicts as a table."""
    titles = ("effect class", "points", "kills", "lost", "duplicated", "unknown reported", "unknown silent")
    rows = [
        (CLASSES.get(agent, "all four"), v.points, v.kills, v.lost, v.duplicated, v.reported, v.silent)
        for agent, v in verdicts.items()
    ]
    widths = (14, 8, 8, 8, 12, 18, 16)
    return "\n".join(
        "".join(f"{each:>{width}}" for each, width in zip(row, widths, strict=True)) for row in [titles, *rows]
    )
