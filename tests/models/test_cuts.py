"""A recorded stream of every wire, cut at every byte: the same reply however it arrives, and none that came in part."""

from __future__ import annotations

import pytest

from oribi.core.errors import ModelError
from oribi.core.messages import Usage
from oribi.models.stream import StreamReading
from oribi.ports import ReasoningDelta, TextDelta
from tests.models.samples import call
from tests.models.streams import RECORDED, Recorded

WIRES = pytest.mark.parametrize("recorded", RECORDED.values(), ids=RECORDED)
CALLS = (call("c1", "read_file", {"path": "a"}),)


def read(reading: StreamReading, *parts: bytes) -> tuple[str, str]:
    """What the parts show: text and reasoning."""
    deltas = [delta for part in parts for delta in reading.feed(part)]
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    return text, "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))


@WIRES
def test_a_recorded_stream_means_the_same_on_every_wire(recorded: Recorded) -> None:
    """O-34, Y-9."""
    reading = recorded.open()
    shown = read(reading, recorded.stream)
    reply = reading.finish()
    assert (reply.text, reply.reasoning) == shown == ("I look, é🍸", "hm")
    assert (reply.calls, reply.stop) == (CALLS, "tool_calls")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (20, 9)


@WIRES
def test_a_stream_cut_in_two_at_any_byte_gives_the_same_reply_and_deltas(recorded: Recorded) -> None:
    whole = recorded.open()
    deltas = whole.feed(recorded.stream)
    reply = whole.finish()
    for cut in range(len(recorded.stream) + 1):
        reading = recorded.open()
        assert reading.feed(recorded.stream[:cut]) + reading.feed(recorded.stream[cut:]) == deltas
        assert reading.finish() == reply


@WIRES
def test_a_stream_that_breaks_off_at_any_byte_is_never_a_finished_reply_too_early(recorded: Recorded) -> None:
    """O-34: a half reply runs nothing; only what follows the stop reason (numbers) may be missing."""
    complete = recorded.open()
    complete.feed(recorded.stream)
    reply = complete.finish()
    for cut in range(len(recorded.stream)):
        reading = recorded.open()
        text, _ = read(reading, recorded.stream[:cut])
        text += "".join(delta.text for delta in reading.end() if isinstance(delta, TextDelta))
        if cut < recorded.enough:
            with pytest.raises(ModelError, match="ended before") as caught:
                reading.finish()
            assert (caught.value.kind, caught.value.partial) == ("network", text)
        else:
            early = reading.finish()
            assert (early.text, early.calls, early.stop, early.raw) == (reply.text, reply.calls, reply.stop, reply.raw)


@pytest.mark.parametrize("wire", ["openai-responses", "anthropic", "gemini"])
def test_counts_that_come_with_the_stop_reason_are_never_lost(wire: str) -> None:
    """On these wires a finished reply has its counts."""
    recorded = RECORDED[wire]
    reading = recorded.open()
    reading.feed(recorded.stream[: recorded.enough])
    reading.end()
    used = reading.finish().usage
    assert used != Usage()
    assert (used.input_tokens, used.output_tokens) == (20, 9)
