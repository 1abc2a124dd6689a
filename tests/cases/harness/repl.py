"""The interactive prompt under a terminal: keys in, screen text out."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from tests.cases.harness.settings import AGENT

if TYPE_CHECKING:
    from tests.cases.harness.product import Product


@dataclass(slots=True)
class Repl:
    """`oribi chat` under a pseudo terminal."""

    process: asyncio.subprocess.Process
    master: int
    output: bytearray

    @classmethod
    async def start(cls, product: Product) -> Self:
        """Start it in the product's workspace, and read what it shows from now on."""
        master, slave = pty.openpty()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "oribi",
            "--workspace",
            str(product.world.workspace),
            "chat",
            "--agent",
            AGENT,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=product.environment | {"TERM": "xterm"},
            cwd=product.world.workspace,
            start_new_session=True,
            preexec_fn=lambda: product.take_terminal(slave),
        )
        os.close(slave)
        product.one_shots["repl"] = process
        repl = cls(process, master, bytearray())
        os.set_blocking(master, False)
        asyncio.get_running_loop().add_reader(master, repl._read)
        await repl.wait_text(".", 15.0)
        return repl

    @property
    def text(self) -> str:
        """Everything shown so far."""
        return self.output.decode(errors="replace")

    async def type(self, keys: str) -> None:
        """Press keys; `^C` is the key of that name, a line end is Enter."""
        if keys == "^C":
            os.write(self.master, b"\x03")
            return
        await asyncio.sleep(0.3)  # a prompt that is just being drawn would lose them
        os.write(self.master, keys.replace("\n", "\r").encode("utf-8", "surrogatepass"))

    async def wait_text(self, pattern: str, seconds: float) -> None:
        """Wait until the screen shows what fits `pattern`.

        Raises:
            AssertionError: It does not, in time.

        """
        deadline = time.monotonic() + seconds
        while re.search(pattern, self.text) is None:
            assert time.monotonic() < deadline, f"the terminal never showed {pattern!r}, but {self.text!r}"
            await asyncio.sleep(0.02)

    def hang_up(self) -> None:
        """The terminal goes away."""
        asyncio.get_running_loop().remove_reader(self.master)
        os.close(self.master)
        self.master = -1

    async def close(self) -> None:
        """End the prompt and its terminal."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGKILL)
            await self.process.wait()
        if self.master != -1:
            self.hang_up()

    def _read(self) -> None:
        try:
            self.output += os.read(self.master, 65536)
        except OSError:  # the process has closed its side
            asyncio.get_running_loop().remove_reader(self.master)
