"""What holds for every test: the asyncio backend, no network beyond this machine, steady property tests."""

import ipaddress
import sys

import pytest
from hypothesis import settings


def pytest_configure() -> None:
    """Close the network, and let property tests take the time a busy machine needs."""
    sys.addaudithook(_refuse_network)
    settings.register_profile("oribi", deadline=None)
    settings.load_profile("oribi")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run `@pytest.mark.anyio` tests on asyncio, the backend that Oribi runs on."""
    return "asyncio"


def _refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.connect" and isinstance(address := arguments[1], tuple):
        host = str(address[0])  # pyright: ignore[reportUnknownArgumentType] # an audit event's tuple is untyped
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if not _is_local(host):
        message = f"a test reached for the network: {host!r}. Use the fakes in oribi.testing on 127.0.0.1"
        raise RuntimeError(message)


def _is_local(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in {None, "", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(str(name)).is_loopback
    except ValueError:
        return False
