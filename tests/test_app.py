"""The application through its public library, on a real workspace with a scripted model."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

import oribi
from oribi.agents.workspace import init_workspace
from oribi.core.ends import Completed, Interrupted, MaxSteps
from oribi.core.events import Recorded, TurnEnded, TurnStarted
from oribi.core.text import whole
from oribi.ports import TextDelta
from oribi.turn.live import MOST_IDLE_SESSIONS

pytestmark = pytest.mark.anyio

AGENT = """---
name: ops
description: Looks after things.
model: {model}
tools: [{tools}]
settings:
  max_iterations: {steps}
---
You are ops.
"""


def make(root: Path, script: object, *, model: str = "scripted:ops.json", tools: str = "", steps: int = 10) -> Path:
    init_workspace(root)
    folder = root / ".oribi" / "agents" / "ops"
    folder.mkdir(exist_ok=True)
    (folder / "AGENT.md").write_text(AGENT.format(model=model, tools=tools, steps=steps))
    (root / ".oribi" / "ops.json").write_text(json.dumps(script))
    return root


ECHO = {"rules": [{"when": {"tool": "shout"}, "reply": {"text": "It said {result}"}}]}
SHOUTS = {"replies": [{"calls": [{"name": "shout", "arguments": {"text": "hi"}}]}], **ECHO}


def name_of(record: Recorded) -> str:
    return type(record.event).__name__


def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()


async def test_a_turn_runs_with_a_function_as_its_tool_and_is_there_after_reopening(tmp_path: Path) -> None:
    """O-3, Y-4, Y-8, T-3: the message comes in through a channel, the loop runs, the session is kept."""
    root = make(tmp_path, SHOUTS)
    async with oribi.open(root, tools=[shout]) as app:
        result = await app.run("ops", "Say hi.", principal="me", channel="test")
    assert result.end == Completed(text="It said HI")
    assert [message.name for message in result.evidence] == ["shout"]
    assert (result.counters.steps, result.counters.tool_calls) == (2, 1)
    async with oribi.open(root, read_only=True) as app:
        [session] = app.sessions()
        assert (session.agent, session.principal, session.channel, session.last_end) == (
            "ops",
            "me",
            "test",
            "Completed",
        )
        assert app.turn(session.session_id).end == result.end


async def test_an_answer_that_has_to_fit_a_schema_comes_as_a_value_and_is_kept_as_one(tmp_path: Path) -> None:
    """Issue 3: the result is typed in `Completed`, also after reopening; the agent's own turns stay as they were."""
    root = make(tmp_path, {"replies": [{"text": "I'd say 7."}, {"text": "[7]"}, {"text": "As you like."}]})
    async with oribi.open(root) as app:
        result = await app.run("ops", "A number?", output_schema={"type": "array", "items": {"type": "integer"}})
        assert result.end == Completed(text="[7]", value=[7])
        more = await app.run("ops", "And in words?", session_id=result.session_id)
    assert more.end == Completed(text="As you like.")
    async with oribi.open(root, read_only=True) as app:
        ends = [record.event.end for record in app.records(result.session_id) if isinstance(record.event, TurnEnded)]
    assert ends == [result.end, more.end]


async def test_the_command_line_and_the_library_are_one_entry(tmp_path: Path) -> None:
    """Y-8: a session begun by the command line goes on through the library, with the same events."""
    root = make(tmp_path, {"replies": [{"text": "one"}, {"text": "two"}]})
    command = [sys.executable, "-m", "oribi", "--workspace", str(root), "run", "--agent", "ops", "first"]
    run = await anyio.run_process(command, check=False)
    assert (run.returncode, run.stdout.decode().strip()) == (0, "one"), run.stderr
    async with oribi.open(root) as app:
        [session] = app.sessions()
        assert (await app.run("ops", "second", session_id=session.session_id)).text == "two"
        kinds = [name_of(record) for record in app.records(session.session_id)]
    assert kinds.count("TurnStarted") == kinds.count("TurnEnded") == 2
    turns = [kinds[start : start + 4] for start, kind in enumerate(kinds) if kind == "TurnStarted"]
    assert [[kind for kind in turn if kind != "FilesRead"][:3] for turn in turns] == [
        ["TurnStarted", "ModelAsked", "ModelReplied"]
    ] * 2


async def test_a_stream_hands_out_fragments_and_durable_events_and_then_the_result(tmp_path: Path) -> None:
    root = make(tmp_path, {"replies": [{"text": "All is well with the world."}]})
    async with oribi.open(root) as app, app.stream("ops", "How is it?") as stream:
        news = [item async for item in stream]
    assert "".join(item.text for item in news if isinstance(item, TextDelta)) == "All is well with the world."
    assert [record.seq for record in news if isinstance(record, Recorded)] == list(
        range(1, 1 + sum(isinstance(item, Recorded) for item in news))
    )
    assert stream.result is not None
    assert stream.result.text == "All is well with the world."


async def test_leaving_a_stream_early_interrupts_the_turn_and_the_session_goes_on(tmp_path: Path) -> None:
    root = make(
        tmp_path,
        {
            "replies": [{"text": "never", "delay_seconds": 30}, {"text": "x"}],
            "rules": [{"when": {"input": "again"}, "reply": {"text": "here I am"}}],
        },
    )
    async with oribi.open(root) as app:
        async with app.stream("ops", "go") as stream:
            async for news in stream:
                if isinstance(news, Recorded) and name_of(news) == "ModelAsked":
                    break
        assert stream.result is not None
        assert stream.result.end == Interrupted(by="the listener")
        assert (await app.run("ops", "again", session_id=stream.session_id)).text == "here I am"


async def test_a_stream_left_before_its_first_step_still_stops_the_turn(tmp_path: Path) -> None:
    root = make(tmp_path, {"replies": [{"text": "never", "delay_seconds": 30}]})
    async with oribi.open(root) as app:
        async with app.stream("ops", "go") as stream:
            pass
        assert stream.result is not None
        assert stream.result.end == Interrupted(by="the listener")


async def test_an_error_of_the_reader_stops_the_turn_and_comes_out_as_it_is(tmp_path: Path) -> None:
    root = make(tmp_path, {"replies": [{"text": "never", "delay_seconds": 30}]})
    async with oribi.open(root) as app:

        async def read_badly() -> None:
            async with app.stream("ops", "go", session_id="s1") as stream:
                async for _ in stream:
                    raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await read_badly()
        assert app.turn("s1").end == Interrupted(by="the listener")


async def test_whoever_waits_for_a_session_that_failed_opens_it_again(tmp_path: Path) -> None:
    slow = {"rules": [{"when": {"input": "slow"}, "reply": {"text": "x", "delay_seconds": 30}}]}
    root = make(tmp_path, {**slow, "replies_tail": {"text": "fine"}})
    async with oribi.open(root) as app:
        answers: list[str] = []

        async def first() -> None:
            with anyio.move_on_after(0.3):
                await app.run("ops", "slow", session_id="s1")

        async def second() -> None:
            await anyio.sleep(0.1)
            (root / ".oribi" / "ops.json").write_text(json.dumps({"replies_tail": {"text": "fine"}}))
            answers.append((await app.run("ops", "quick", session_id="s1")).text)

        async with anyio.create_task_group() as group:
            group.start_soon(first)
            group.start_soon(second)
    assert answers == ["fine"]


async def test_messages_sent_at_once_to_one_session_are_taken_in_order(tmp_path: Path) -> None:
    root = make(
        tmp_path, {"rules": [{"when": {"input": "(?P<n>.*)"}, "reply": {"text": "to {n}", "delay_seconds": 0.01}}]}
    )
    async with oribi.open(root) as app:
        answers: dict[str, str] = {}

        async def send(text: str) -> None:
            answers[text] = (await app.run("ops", text, session_id="shared")).text

        async with anyio.create_task_group() as group:
            for n in range(5):
                group.start_soon(send, f"m{n}")
        assert answers == {f"m{n}": f"to m{n}" for n in range(5)}
        started = [r.event.input.text for r in app.records("shared") if isinstance(r.event, TurnStarted)]
        assert sorted(started) == sorted(answers)
        assert [name_of(r) for r in app.records("shared") if name_of(r) in {"TurnStarted", "TurnEnded"}] == [
            "TurnStarted",
            "TurnEnded",
        ] * 5


async def test_many_sessions_at_once_share_commits_and_each_is_whole(tmp_path: Path) -> None:
    root = make(tmp_path, SHOUTS)
    count = MOST_IDLE_SESSIONS + 6
    async with oribi.open(root, tools=[shout]) as app:
        results: list[oribi.TurnResult] = []

        async def one(n: int) -> None:
            results.append(await app.run("ops", "go", session_id=f"s{n}"))

        async with anyio.create_task_group() as group:
            for n in range(count):
                group.start_soon(one, n)
        assert {result.text for result in results} == {"It said HI"}
        assert app.commits < count * 5 / 2  # alone, each would have taken five
        for n in range(count):
            assert app.turn(f"s{n}").end == Completed(text="It said HI")
        assert (await app.run("ops", "go", session_id="s0")).session_id == "s0"  # one that is no longer in memory


async def test_an_unknown_agent_names_those_that_exist_and_records_nothing(tmp_path: Path) -> None:
    root = make(tmp_path, {"replies": []})
    async with oribi.open(root) as app:
        with pytest.raises(oribi.ConfigError, match=r"no agent named 'opps'.*ops"):
            await app.run("opps", "go")
        assert app.sessions() == []


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("openai:gpt-5", "set the environment variable OPENAI_API_KEY"),
        ("nowhere:x", "no provider|unknown provider|nowhere"),
        ("scripted:missing.json", "missing.json"),
    ],
)
async def test_a_model_that_cannot_be_used_is_an_error_before_anything_is_recorded(
    tmp_path: Path, model: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    root = make(tmp_path, {"replies": []}, model=model)
    async with oribi.open(root) as app:
        with pytest.raises(oribi.ConfigError, match=said):
            await app.run("ops", "go")
        assert app.sessions() == []


async def test_several_may_write_and_a_reader_may_not(tmp_path: Path) -> None:
    root = make(tmp_path, {"replies": [{"text": "x"}]})
    async with oribi.open(root) as app, oribi.open(root) as other:
        await app.run("ops", "go")
        await other.run("ops", "go")
        assert len(app.sessions()) == len(other.sessions()) == 2
        async with oribi.open(root, read_only=True) as reader:
            assert len(reader.sessions()) == 2
            with pytest.raises(oribi.JournalError, match="read only"):
                await reader.run("ops", "go")


async def test_an_agents_own_cap_is_honoured(tmp_path: Path) -> None:
    """O-26: `settings.max_iterations` of AGENT.md."""
    again = {"rules": [{"when": {"last": ""}, "reply": {"calls": [{"name": "shout", "arguments": {"text": "x"}}]}}]}
    root = make(tmp_path, again, steps=3)
    async with oribi.open(root, tools=[shout]) as app:
        result = await app.run("ops", "go")
    assert result.end == MaxSteps(limit=3, text="")
    assert result.counters.model_calls == 3


async def test_why_says_which_question_decides(tmp_path: Path) -> None:
    root = make(tmp_path, {"replies": [{"text": "done"}]})
    async with oribi.open(root) as app:
        result = await app.run("ops", "go")
        question, action = app.why(result.session_id)
    assert (question, type(action).__name__) == ("Is there an open turn? No.", "Rest")


@pytest.mark.parametrize("scope", ["agent", "global", "principal"])
async def test_what_an_agent_saves_is_in_the_memory_that_it_reads(tmp_path: Path, scope: str) -> None:
    """C-12: whose memory it is says the policy, for the tools that save and for the prompts that follow."""
    save = {"calls": [{"name": "save_memory", "arguments": {"entry": "Ada likes tea."}}]}
    rules = [{"when": {"input": "save", "step": 1}, "reply": save}, {"when": {}, "reply": {"text": "hi"}}]
    make(tmp_path, {"rules": rules}, tools="save_memory")
    file = tmp_path / ".oribi" / "agents" / "ops" / "AGENT.md"
    file.write_text(file.read_text().replace("---\n", f"---\npolicy: {{memory_scope: {scope}}}\n", 1))
    async with oribi.open(tmp_path) as app:
        await app.run("ops", "save it", session_id="s1", principal="ada")
        turns: dict[str, str] = {}
        for name, agent, principal in (("same", "ops", "ada"), ("another", "ops", "bob")):
            await app.run(agent, "hello", session_id=name, principal=principal)
            turns[name] = app.turn(name).files.memory
    assert "Ada likes tea." in turns["same"]
    assert ("Ada likes tea." in turns["another"]) is (scope != "principal")


def test_the_sync_form_serves_scripts(tmp_path: Path) -> None:
    root = make(tmp_path, SHOUTS)
    assert oribi.run("ops", "go", workspace=root, tools=[shout]).text == "It said HI"


def test_a_lone_surrogate_in_the_input_is_replaced_and_a_pair_is_joined() -> None:
    assert whole("a\ud800b") == "a\ufffdb"
    assert whole("\ud83e\udd8c") == "\U0001f98c"
    assert whole("plain") == "plain"


def test_importing_oribi_loads_nothing_but_itself() -> None:
    """Rule 20: importing does nothing; the few public names are loaded when they are used."""
    code = "import sys, oribi; print(sorted(m for m in sys.modules if m.startswith('oribi.')), len(oribi.__all__))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[] 21"


def test_every_public_name_is_there() -> None:
    for name in oribi.__all__:
        assert getattr(oribi, name) is not None
    with pytest.raises(AttributeError, match="it has: App"):
        oribi.nonsense  # noqa: B018 - that is the point
