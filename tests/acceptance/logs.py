"""What an error log really holds, counted by other means than the agent's, and a line that means a 502."""

from dataclasses import dataclass

BAD_GATEWAY = (
    "connect() failed (111: Connection refused) while connecting to upstream",
    "upstream prematurely closed connection",
    "no live upstreams",
)


@dataclass(frozen=True, kw_only=True)
class Log:
    """What a log really holds: the numbers (from 1) of lines that mean a 502, their first time, other counts."""

    bad_gateway: list[int]
    first_time: str
    errors: int
    timeouts: int


def counted(text: str) -> Log:
    lines = text.splitlines()
    bad = [number for number, line in enumerate(lines, 1) if any(what in line for what in BAD_GATEWAY)]
    return Log(
        bad_gateway=bad,
        first_time=lines[bad[0] - 1].split()[1] if bad else "",
        errors=sum(line.split()[2] in {"[error]", "[crit]", "[alert]", "[emerg]"} for line in lines),
        timeouts=sum("upstream timed out" in line for line in lines),
    )


def bad_line(time: str) -> str:
    """A line that means a 502, written at `time`."""
    return (
        f"2026/11/30 {time} [error] 1234#1234: *5678 {BAD_GATEWAY[0]}, client: 203.0.113.9, server: shop.example.com, "
        'request: "GET /api/cart HTTP/1.1", upstream: "http://10.0.4.11:8080/api/cart", host: "shop.example.com"'
    )
