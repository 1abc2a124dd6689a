"""The event reader: legal framing in every dress, and no difference in how the bytes were cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oribi.core.errors import ModelError
from oribi.models import sse
from oribi.models.sse import ServerEvent, SseReader

STREAM = (
    "\ufeff: OPENROUTER PROCESSING\n\n"
    "retry: 3000\n\n"
    'data: {"a":"é🍸"}\n\n'
    "event: message\r\nid: 1\r\ndata: one\r\ndata:two\r\ndata\r\n\r\n"
    "event: empty\r\revent:named\rdata:  spaced\r\r"
    ": ping\ndata: [DONE]\n\n"
).encode()
EVENTS = [
    ServerEvent(b"", '{"a":"é🍸"}'.encode()),
    ServerEvent(b"message", b"one\ntwo"),
    ServerEvent(b"named", b" spaced"),
    ServerEvent(b"", b"[DONE]"),
]


def read(*chunks: bytes) -> list[ServerEvent]:
    reader = SseReader()
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    return events + reader.finish()


def test_every_line_ending_comment_and_field_is_read_by_the_standard() -> None:
    assert read(STREAM) == EVENTS


def test_a_stream_cut_in_two_at_any_byte_gives_the_same_events() -> None:
    for cut in range(len(STREAM) + 1):
        assert read(STREAM[:cut], STREAM[cut:]) == EVENTS, cut


def test_a_stream_that_arrives_byte_by_byte_gives_the_same_events() -> None:
    assert read(*(STREAM[at : at + 1] for at in range(len(STREAM)))) == EVENTS


@given(
    lines=st.lists(st.sampled_from(["data: x", "data:", "event: e", ": c", "", "id: 1", "data: é"]), max_size=12),
    ending=st.sampled_from(["\n", "\r", "\r\n"]),
    cuts=st.lists(st.integers(0, 120), max_size=6),
)
def test_line_endings_and_cuts_never_change_the_events(lines: list[str], ending: str, cuts: list[int]) -> None:
    plain = "".join(f"{line}\n" for line in lines).encode()
    dressed = "".join(line + ending for line in lines).encode()
    places = sorted({0, *(cut for cut in cuts if cut < len(dressed)), len(dressed)})
    assert read(*(dressed[begin:end] for begin, end in pairwise(places))) == read(plain)


def test_a_byte_order_mark_is_no_part_of_the_first_field() -> None:
    assert read(b"\xef", b"\xbb\xbfdata: one\n\n") == [ServerEvent(b"", b"one")]
    assert read(b"data: \xef\xbb\xbfone\n\n") == [ServerEvent(b"", b"\xef\xbb\xbfone")]


def test_the_last_event_needs_no_blank_line() -> None:
    assert read(b"data: one\n\ndata: [DONE]") == [ServerEvent(b"", b"one"), ServerEvent(b"", b"[DONE]")]
    assert read(b"data: one\n") == [ServerEvent(b"", b"one")]
    assert read(b"event: x") == []


def test_an_event_without_end_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 1_000)
    reader = SseReader()
    for _ in range(50):
        reader.feed(b"data: " + b"x" * 100 + b"\n\n")
    for _ in range(12):
        reader.feed(b"data: x\n" * 10)
    with pytest.raises(ModelError, match="more than 1000 bytes") as caught:
        reader.feed(b"data: x\n" * 10)
    assert caught.value.kind == "protocol"
