"""Events survive the journal unchanged, and large parts are stored once."""

import math
from typing import get_args

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oribi.core.calls import CallId, Json, Succeeded, ToolCall
from oribi.core.errors import JournalError
from oribi.core.events import Event, ModelFaulted, ModelReplied, SessionOpened, ToolSettled
from oribi.core.messages import Reply
from oribi.journal.codec import APART_BYTES, EVENT_TYPES, decode_event, encode_event
from tests.core.strategies import any_events
from tests.samples import LONG, SAMPLES

TEXT = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT | st.sampled_from(["$json", "$type"]), inner),
    max_leaves=12,
)


def there_and_back(event: Event) -> Event:
    payload, blobs = encode_event(event)
    return decode_event(type(event).__name__, payload, blobs.__getitem__)


@pytest.mark.parametrize("event", SAMPLES, ids=lambda event: type(event).__name__)
def test_every_event_comes_back_as_it_was(event: Event) -> None:
    assert there_and_back(event) == event


@given(event=any_events)
def test_any_event_comes_back_as_it_was(event: Event) -> None:
    if isinstance(event, ModelFaulted):  # JSON knows only finite numbers, and a fault is recorded with no other
        assume(event.retry_after_seconds is None or math.isfinite(event.retry_after_seconds))
    assert there_and_back(event) == event


def test_every_event_type_is_in_the_codec_table() -> None:
    assert set(EVENT_TYPES.values()) == set(get_args(Event))


@given(arguments=st.dictionaries(st.text(), JSON, max_size=5), raw=JSON, text=st.text(max_size=2000))
def test_any_json_in_a_reply_comes_back_as_it_was(arguments: dict[str, Json], raw: Json, text: str) -> None:
    call = ToolCall(id=CallId("c"), name="n", arguments=arguments)
    event = ModelReplied(step=1, attempt=1, reply=Reply(text=text, calls=(call,), raw=raw))
    assert there_and_back(event) == event


def test_a_long_text_stands_apart_and_the_payload_stays_small() -> None:
    payload, blobs = encode_event(ToolSettled(step=1, call_id=CallId("c"), result=Succeeded(text=LONG)))
    assert list(blobs.values()) == [LONG.encode()]
    assert len(payload) < APART_BYTES


def test_a_short_text_stands_in_the_payload() -> None:
    payload, blobs = encode_event(ToolSettled(step=1, call_id=CallId("c"), result=Succeeded(text="short")))
    assert blobs == {}
    assert msgspec.json.decode(payload)["result"] == {"$type": "Succeeded", "text": "short"}


def test_an_unknown_type_says_to_upgrade() -> None:
    with pytest.raises(JournalError, match="newer Oribi; upgrade"):
        decode_event("MoonPhaseSeen", b"{}", lambda _: b"")


@pytest.mark.parametrize("payload", [b"", b"[]", b"{}", b'{"agent":1', b"null", b'{"agent":{"$text":"gone"}}'])
def test_a_broken_payload_is_a_journal_error(payload: bytes) -> None:
    with pytest.raises(JournalError, match="cannot be read"):
        decode_event(SessionOpened.__name__, payload, dict[str, bytes]().__getitem__)
