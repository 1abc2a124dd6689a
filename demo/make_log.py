"""Write the error log of a shop behind nginx: an ordinary day's noise and, towards its end, a burst of 502s.

The same seed, number of lines and end give the same log, byte for byte.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

SERVER = "shop.example.com"
UPSTREAMS = ("10.0.4.11:8080", "10.0.4.12:8080", "10.0.4.13:8080")
WORKERS = (1233, 1234, 1235, 1236)
PAGES = ("/", "/products/espresso-kettle", "/products/pour-over-set", "/cart", "/search?q=grinder", "/account/orders")
CALLS = (
    "GET /api/cart",
    "POST /api/cart/items",
    "GET /api/products?page=2",
    "POST /api/checkout",
    "GET /api/stock/4711",
)
MISSING = (
    "favicon.ico",
    "apple-touch-icon.png",
    ".env",
    "wp-login.php",
    "robots.txt",
    "static/js/app.8f3c1.js.map",
    "images/banner-old.webp",
    "xmlrpc.php",
)
HOURS = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the log before it has its place: `connection` lines carry the number of a connection."""

    at: datetime
    level: str
    text: str
    worker: int
    connection: bool = True


Happening: TypeAlias = Callable[[random.Random], tuple[str, str]]
"""Something that happens on a connection: its level and its text."""


def make_log(*, seed: int, lines: int = 2_000, burst: bool = True, ends_at: datetime) -> str:
    """A log of exactly `lines` lines whose last is written at about `ends_at`, whose own time zone it is in."""
    dice = random.Random(seed)
    begins_at = ends_at - timedelta(hours=HOURS)
    entries = _burst(dice, ends_at, lines) if burst else []
    entries += _start_up(begins_at)[: max(0, lines - len(entries))]
    entries += [_ordinary(dice, begins_at, ends_at) for _ in range(lines - len(entries))]
    entries.sort(key=lambda entry: entry.at)
    connection = dice.randint(40_000, 60_000)
    written: list[str] = []
    for entry in entries:
        connection += dice.randint(1, 9)
        number = f" *{connection}" if entry.connection else ""
        stamp = entry.at.strftime("%Y/%m/%d %H:%M:%S")
        written.append(f"{stamp} [{entry.level}] {entry.worker}#{entry.worker}:{number} {entry.text}\n")
    return "".join(written)


def _start_up(at: datetime) -> list[Entry]:
    """What nginx says when it starts."""
    texts = ('using the "epoll" event method', "nginx/1.26.3", "start worker processes")
    workers = tuple(f"start worker process {worker}" for worker in WORKERS)
    return [Entry(at=at, level="notice", text=text, worker=1, connection=False) for text in (*texts, *workers)]


def _ordinary(dice: random.Random, begins_at: datetime, ends_at: datetime) -> Entry:
    happening = dice.choices(list(ORDINARY), weights=list(ORDINARY.values()))[0]
    level, text = happening(dice)
    at = begins_at + (ends_at - begins_at) * dice.random()
    return Entry(at=at, level=level, text=text, worker=dice.choice(WORKERS), connection=level != "notice")


def _burst(dice: random.Random, ends_at: datetime, lines: int) -> list[Entry]:
    """The application goes down: replies break off, then connections are refused, then nginx has nobody left to ask."""
    begins_at = ends_at - timedelta(minutes=dice.uniform(8, 20))
    seconds = dice.uniform(120, 300)
    size = min(lines, dice.randint(60, 140))
    entries: list[Entry] = []
    for _ in range(size):
        passed = dice.random()
        weights = (max(0.02, 0.7 - 2 * passed), 0.6, max(0.0, 2 * passed - 0.6))
        happening = dice.choices((_closed_early, _refused, _nobody_left), weights=weights)[0]
        level, text = happening(dice)
        at = begins_at + timedelta(seconds=seconds * passed)
        entries.append(Entry(at=at, level=level, text=text, worker=dice.choice(WORKERS)))
    return entries


def _client(dice: random.Random) -> str:
    network = dice.choice(("203.0.113", "198.51.100", "192.0.2"))
    return f"{network}.{dice.randint(1, 254)}"


def _request(dice: random.Random, line: str, upstream: str | None = None) -> str:
    """The tail that nginx adds to what happened while it served a request."""
    asked = f'client: {_client(dice)}, server: {SERVER}, request: "{line} HTTP/1.1"'
    if upstream is not None:
        asked += f', upstream: "http://{upstream}{line.split(" ", 1)[1]}"'
    return f'{asked}, host: "{SERVER}"'


def _upstream(dice: random.Random) -> str:
    return dice.choice(UPSTREAMS)


def _refused(dice: random.Random) -> tuple[str, str]:
    what = "connect() failed (111: Connection refused) while connecting to upstream"
    return "error", f"{what}, {_request(dice, dice.choice(CALLS), _upstream(dice))}"


def _closed_early(dice: random.Random) -> tuple[str, str]:
    what = "upstream prematurely closed connection while reading response header from upstream"
    return "error", f"{what}, {_request(dice, dice.choice(CALLS), _upstream(dice))}"


def _nobody_left(dice: random.Random) -> tuple[str, str]:
    return "error", f"no live upstreams while connecting to upstream, {_request(dice, dice.choice(CALLS), 'shop_app')}"


def _timed_out(dice: random.Random) -> tuple[str, str]:
    what = "upstream timed out (110: Connection timed out) while reading response header from upstream"
    return "error", f"{what}, {_request(dice, dice.choice(CALLS), _upstream(dice))}"


def _client_left(dice: random.Random) -> tuple[str, str]:
    what = "epoll_wait() reported that client prematurely closed connection, so upstream connection is closed too"
    where = "while reading response header from upstream"
    return "info", f"{what} {where}, {_request(dice, dice.choice(CALLS), _upstream(dice))}"


def _keepalive_closed(dice: random.Random) -> tuple[str, str]:
    return "info", f"client {_client(dice)} closed keepalive connection"


def _no_such_file(dice: random.Random) -> tuple[str, str]:
    path = dice.choice(MISSING)
    what = f'open() "/var/www/shop/{path}" failed (2: No such file or directory)'
    return "error", f"{what}, {_request(dice, f'GET /{path}')}"


def _forbidden(dice: random.Random) -> tuple[str, str]:
    return "error", f"access forbidden by rule, {_request(dice, 'GET /.git/config')}"


def _limited(dice: random.Random) -> tuple[str, str]:
    excess = f"{dice.uniform(20, 28):.3f}"
    return "error", f'limiting requests, excess: {excess} by zone "per_ip", {_request(dice, dice.choice(CALLS))}'


def _buffered(dice: random.Random) -> tuple[str, str]:
    number = dice.randint(1, 99_999)
    file = f"/var/cache/nginx/proxy_temp/{number % 10}/{number // 10 % 100:02}/{number:010}"
    what = f"an upstream response is buffered to a temporary file {file} while reading upstream"
    return "warn", f"{what}, {_request(dice, f'GET {dice.choice(PAGES)}', _upstream(dice))}"


def _handshake_refused(dice: random.Random) -> tuple[str, str]:
    what = "SSL_do_handshake() failed (SSL: error:0A00006C:SSL routines::bad key share) while SSL handshaking"
    return "crit", f"{what}, client: {_client(dice)}, server: 0.0.0.0:443"


def _wrong_version(dice: random.Random) -> tuple[str, str]:
    what = "SSL_do_handshake() failed (SSL: error:0A00010B:SSL routines::wrong version number) while SSL handshaking"
    return "info", f"{what}, client: {_client(dice)}, server: 0.0.0.0:443"


def _log_reopened(dice: random.Random) -> tuple[str, str]:
    del dice
    return "notice", "reopening logs"


ORDINARY: dict[Happening, float] = {
    _keepalive_closed: 46,
    _no_such_file: 17,
    _client_left: 13,
    _wrong_version: 7,
    _buffered: 6,
    _timed_out: 3,
    _handshake_refused: 3,
    _limited: 3,
    _forbidden: 1.5,
    _log_reopened: 0.5,
}
"""What happens on a day without trouble, and how often. None of it makes nginx answer 502."""


def main() -> None:
    """Write the log to a file or to standard output."""
    parser = argparse.ArgumentParser(description="Write an error log in nginx's own format.")
    parser.add_argument("path", nargs="?", type=Path, help="the file to write (default: standard output)")
    parser.add_argument("--seed", type=int, default=502, help="the same seed makes the same log (default 502)")
    parser.add_argument("--lines", type=int, default=2_000, help="how many lines (default 2000)")
    parser.add_argument("--no-burst", action="store_true", help="an ordinary day, without any 502")
    parser.add_argument(
        "--ends-at",
        type=datetime.fromisoformat,
        default=None,
        metavar="TIME",
        help="when the log ends, in UTC (default: now)",
    )
    given = parser.parse_args()
    ends_at: datetime = given.ends_at or datetime.now(UTC)
    log = make_log(seed=given.seed, lines=given.lines, burst=not given.no_burst, ends_at=ends_at)
    if given.path is None:
        sys.stdout.write(log)
    else:
        given.path.parent.mkdir(parents=True, exist_ok=True)
        given.path.write_text(log, encoding="utf-8")


if __name__ == "__main__":
    main()
