"""A turn as it happens: what goes to stdout and what to stderr, whatever order and shape the news come in."""

import io
from dataclasses import dataclass, field

import pytest

from oribi.cli.live import LiveTurn, Manner
from oribi.cli.output import Output
from oribi.cli.paint import PLAIN
from oribi.core.budget import Limits
from oribi.core.calls import Allow, CallId, SessionId, Succeeded, ToolCall, TurnId
from oribi.core.ends import BudgetSpent, Completed, ModelFailed
from oribi.core.events import (
    CallJudged,
    ContextCut,
    Event,
    ModelAsked,
    ModelFaulted,
    ModelReplied,
    NoticeGiven,
    Recorded,
    RequestRef,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from oribi.core.messages import ModelChoice, Reply, UserMessage
from oribi.core.policy import LoopPolicy
from oribi.ports import ReasoningDelta, TextDelta

REQUEST = RequestRef(
    sha256="0" * 64,
    bytes=1,
    system_characters=0,
    memory_characters=0,
    history_turns=0,
    turns_left_out=0,
    messages=1,
    tools=0,
)
ASKED = ModelAsked(step=1, attempt=1, request=REQUEST)


class Kept(Output):
    """An output that keeps what it is given, each piece with where it was to go."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[tuple[str, str]] = []

    def say(self, text: str) -> None:
        self.pieces.append(("out", text))

    def tell(self, text: str) -> None:
        self.pieces.append(("err", text))

    def text(self, where: str) -> str:
        return "".join(text for place, text in self.pieces if place == where)


@dataclass
class Scene:
    """A turn that is being shown."""

    manner: Manner = field(default_factory=lambda: Manner(paint=PLAIN, columns=60))
    output: Kept = field(default_factory=Kept)
    seq: int = 0

    def __post_init__(self) -> None:
        self.live = LiveTurn(self.output, self.manner)
        started = TurnStarted(
            turn_id=TurnId("t1"),
            input=UserMessage(text="go"),
            agent="ops",
            model=ModelChoice(provider="scripted", name="demo", wire="scripted"),
            policy=LoopPolicy(limits=Limits()),
            tools=(),
            instructions="",
        )
        self.events(started)

    def events(self, *events: Event) -> "Scene":
        for event in events:
            self.seq += 1
            turn_id = TurnId("t1")
            self.live.show(
                Recorded(session_id=SessionId("s1"), seq=self.seq, turn_id=turn_id, at=self.seq * 1000, event=event)
            )
        return self

    def deltas(self, *texts: str) -> "Scene":
        for text in texts:
            self.live.show(TextDelta(text=text))
        return self

    @property
    def out(self) -> str:
        return self.output.text("out")

    @property
    def err(self) -> str:
        return self.output.text("err")


def replied(text: str, *calls: ToolCall) -> ModelReplied:
    return ModelReplied(step=1, attempt=1, reply=Reply(text=text, calls=calls))


def test_streamed_words_are_not_repeated_when_the_reply_is_recorded() -> None:
    scene = Scene().events(ASKED).deltas("Hel", "lo.").events(replied("Hello."))
    assert (scene.out, scene.err) == ("Hello.\n", "")


def test_a_model_that_does_not_stream_is_shown_too() -> None:
    assert Scene().events(ASKED, replied("Hello.\n")).out == "Hello.\n"


def test_words_that_were_lost_at_the_end_follow() -> None:
    assert Scene().events(ASKED).deltas("Hel").events(replied("Hello.")).out == "Hello.\n"


def test_words_that_were_lost_in_the_middle_are_shown_once_more_in_whole() -> None:
    scene = Scene().events(ASKED).deltas("Hel", ".").events(replied("Hello."))
    assert scene.out == "Hel.\nHello.\n"
    assert "lost" in scene.err


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (("a\r", "\nb"), "a\nb\n"),
        (("a\r", "b"), "a\\x0db\n"),
        (("a", "\r"), "a\\x0d\n"),
        (("\x1b", "[2J"), "\\x1b[2J\n"),
    ],
)
def test_control_characters_are_escaped_also_where_pieces_meet(pieces: tuple[str, ...], shown: str) -> None:
    assert Scene().events(ASKED).deltas(*pieces).events(replied("".join(pieces))).out == shown


def test_a_failed_attempt_leaves_its_words_and_the_next_begins_anew() -> None:
    fault = ModelFaulted(step=1, attempt=1, kind="network", message="reset by peer", partial="Hel")
    again = ModelAsked(step=1, attempt=2, request=REQUEST)
    answer = ModelReplied(step=1, attempt=2, reply=Reply(text="Hello."))
    scene = Scene().events(ASKED).deltas("Hel").events(fault, again).deltas("Hello.").events(answer)
    assert scene.out == "Hel\nHello.\n"
    assert scene.err == ("[1] the model call failed (network): reset by peer\n[1] asking the model again, attempt 2\n")


def test_what_the_runtime_does_to_get_a_usable_answer_is_shown() -> None:
    cut = ContextCut(step=1, attempt=1, history_turns=0, result_characters=9, characters_before=99, characters_after=9)
    fallback = ModelAsked(step=1, attempt=2, request=REQUEST, choice=1, model="other:model")
    answer = ModelReplied(step=1, attempt=2, reply=Reply(text=""))
    fault = ModelFaulted(step=1, attempt=1, kind="context_length", message="too long")
    notice = NoticeGiven(step=1, text="Your answer is empty.")
    assert Scene().events(ASKED, fault, cut, fallback, answer, notice).err.splitlines() == [
        "[1] the conversation is too long for the model: sending less of it",
        "[1] asking other:model, attempt 2",
        "[1] told the model: Your answer is empty.",
    ]


def test_a_call_shows_its_step_arguments_time_and_the_gist_of_its_result() -> None:
    call = ToolCall(id=CallId("c1"), name="grep", arguments={"pattern": "502", "path": "x" * 100})
    scene = Scene().events(
        ASKED,
        replied("", call),
        CallJudged(step=1, call_id=call.id, verdict=Allow(rule="r")),
        ToolStarted(step=1, call_id=call.id),
        ToolSettled(step=1, call_id=call.id, result=Succeeded(text="\nfirst\nsecond\nthird")),
    )
    first, second = scene.err.splitlines()
    assert first.startswith('[1] grep pattern="502", path="xxx')
    assert len(first) == 60
    assert second == "    ok, 1 ms: first (+2 lines)"


def test_talk_begins_on_a_line_of_its_own() -> None:
    call = ToolCall(id=CallId("c1"), name="grep", arguments={})
    scene = Scene().events(ASKED).deltas("Let me look.")
    scene.events(replied("Let me look.", call), CallJudged(step=1, call_id=call.id, verdict=Allow(rule="r")))
    scene.events(ToolStarted(step=1, call_id=call.id))
    assert scene.output.pieces[-2:] == [("out", "\n"), ("err", "[1] grep\n")]


def test_reasoning_is_shown_only_to_those_who_want_it_and_never_on_stdout() -> None:
    for wanted in (False, True):
        scene = Scene(Manner(paint=PLAIN, columns=60, shows_reasoning=wanted)).events(ASKED)
        scene.live.show(ReasoningDelta(text="hm"))
        scene.deltas("Hi.").events(replied("Hi."))
        assert (scene.out, scene.err) == ("Hi.\n", "hm\n" if wanted else "")


def test_the_closing_line_says_what_was_spent_and_how_it_ended() -> None:
    scene = Scene().events(ASKED, replied("Done."), TurnEnded(end=Completed(text="Done.")))
    scene.live.close()
    assert scene.err == "1 step, 0 tools, unknown tokens, 3 ms, session s1: completed\n"


def test_a_failed_model_is_an_error_with_a_hint() -> None:
    scene = Scene().events(ASKED, TurnEnded(end=ModelFailed(kind="auth", message="bad key")))
    scene.live.close()
    assert scene.err.splitlines()[:2] == [
        "error: The model could not answer (auth): bad key",
        "hint: check the provider's key; `oribi models list` shows which variable holds it",
    ]


def test_quiet_shows_no_work_but_says_why_there_is_no_full_answer() -> None:
    scene = Scene(Manner(paint=PLAIN, columns=60, streams=False, shows_work=False)).events(ASKED).deltas("So far")
    scene.events(replied("So far"), TurnEnded(end=BudgetSpent(limit="total_tokens", text="So far")))
    scene.live.close()
    assert (scene.out, scene.err) == ("", "error: stopped, its budget of total_tokens is spent\n")


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from oribi.cli.paint import paint_for

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert paint_for(Terminal(), no_color=False).red("x") == "\033[31mx\033[0m"
    assert paint_for(io.StringIO(), no_color=False).red("x") == "x"
    assert paint_for(Terminal(), no_color=True).red("x") == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint_for(Terminal(), no_color=False).red("x") == "x"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert paint_for(Terminal(), no_color=False).red("x") == "x"
