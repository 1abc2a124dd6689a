"""`oribi models`: which providers there are, and whether a model answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from oribi.cli.flags import Flags, examples, global_options

if TYPE_CHECKING:
    from oribi.app import App
    from oribi.core.messages import Reply


@click.group("models", epilog=examples("oribi models list", "oribi models test ollama:qwen3:8b"))
@global_options()
def command() -> None:
    """List providers, test a model."""


@command.command("list", epilog=examples("oribi models list"))
@global_options()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def list_models(flags: Flags, *, as_json: bool) -> None:
    """List the providers, how they are reached, and whether their key is set. A key itself is never shown."""
    from oribi.cli.looking import open_to_look, print_json, print_table
    from oribi.config import system_environment

    environment = system_environment()
    with open_to_look(flags) as app:
        endpoints = sorted(app.config.providers.values(), key=lambda endpoint: endpoint.provider)
        default = app.config.default_model
        used = sorted({ref for ref in (default, *(agent.model for agent in app.agents.list())) if ref})
    prices = {ref: _price(ref) for ref in used}
    is_set = {one.provider: bool(one.key_env and environment.get(one.key_env, "").strip()) for one in endpoints}
    if as_json:
        providers = [
            {
                "provider": one.provider,
                "wire": one.wire,
                "base_url": _without_secrets(one.base_url),
                "key_env": one.key_env,
                "key_set": is_set[one.provider] if one.key_env else None,
            }
            for one in endpoints
        ]
        models = [{"model": ref, "usd_per_million_tokens": price} for ref, price in prices.items()]
        print_json({"default_model": default, "providers": providers, "models": models})
        return
    rows = [("PROVIDER", "WIRE", "KEY", "ADDRESS")]
    for one in endpoints:
        key = "none needed" if one.key_env is None else f"{one.key_env} {'set' if is_set[one.provider] else 'not set'}"
        rows.append((one.provider, one.wire, key, _without_secrets(one.base_url)))
    print_table(rows)
    if prices:
        click.echo()
        print_table(
            [("MODEL IN USE", "USD PER MILLION TOKENS"), *((ref, _said(price)) for ref, price in prices.items())]
        )
    click.echo(f"default model: {default or 'none; set default_model in oribi.toml'}", err=True)


def _price(ref: str) -> dict[str, float | None] | None:
    """The listed price of a model in use; None when it is not known."""
    from datetime import UTC, datetime

    from oribi.models.prices import price_of

    provider, _, name = ref.partition(":")
    price = price_of(provider, name, datetime.now(tz=UTC))
    if price is None:
        return None
    parts = {"input": price.input, "output": price.output, "cached_input": price.cached_input}
    return {part: None if dollars is None else float(dollars) for part, dollars in parts.items()}


def _said(price: dict[str, float | None] | None) -> str:
    if price is None:
        return "price not known"
    return ", ".join(f"{part.replace('_', ' ')} {dollars:g}" for part, dollars in price.items() if dollars is not None)


@command.command("test", epilog=examples("oribi models test", "oribi models test anthropic:claude-sonnet-4-5"))
@global_options()
@click.argument("name", metavar="[PROVIDER:NAME]", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def test_model(flags: Flags, *, name: str | None, as_json: bool) -> None:
    """Ask a model to call a tool, once, and say what came and what the endpoint supports.

    This is a real call and may cost a fraction of a cent; it is not recorded in any session. Without a name, the
    workspace's default model is asked.
    """
    import anyio

    from oribi.cli.looking import open_to_look, print_json, print_text
    from oribi.cli.wording import duration, one_line, tokens_text

    with open_to_look(flags) as app:
        trial = anyio.run(_try, app, name)
    reply = trial.reply
    supports = {
        "tool_calls": bool(reply.calls),
        "streaming": trial.deltas > 0,
        "usage": reply.usage.input_tokens is not None,
        "reasoning": bool(reply.reasoning),
    }
    if as_json:
        print_json(
            {
                "model": trial.ref,
                "answered_as": reply.model,
                "text": reply.text,
                "stop": reply.stop,
                "supports": supports,
                "input_tokens": reply.usage.input_tokens,
                "output_tokens": reply.usage.output_tokens,
                "milliseconds": trial.milliseconds,
            }
        )
        return
    named = f" (it calls itself {one_line(reply.model, 80)})" if reply.model not in {"", trial.ref} else ""
    tokens = tokens_text(reply.usage.input_tokens, reply.usage.output_tokens)
    called = ", ".join(f"called {one_line(call.name, 80)}" for call in reply.calls)
    said = called or one_line(reply.text, 200) or "(nothing)"
    print_text(f"{trial.ref} answered in {duration(trial.milliseconds)}, {tokens}{named}: {said}\n")
    for feature, seen in supports.items():
        print_text(f"  {feature.replace('_', ' ')}: {'yes' if seen else 'not seen in this reply'}\n")


def _without_secrets(url: str) -> str:
    """The address without user, password and query: they may hold keys that oribi.toml took from the environment."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """What one call showed: `deltas` counts the fragments that came before the reply was finished."""

    ref: str
    reply: Reply
    deltas: int
    milliseconds: float


async def _try(app: App, name: str | None) -> _Trial:
    import time

    from oribi.core.calls import ToolSpec
    from oribi.core.errors import ConfigError
    from oribi.core.messages import UserMessage
    from oribi.core.prompt import Prompt

    if name is None and app.config.default_model is None:
        raise ConfigError("no model is named and the workspace has no default; give one as provider:name")
    choice = app.config.choose_model(name, {})
    report = ToolSpec(
        name="report",
        description="Report a status.",
        parameters={"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]},
    )
    deltas = 0

    def count(_: object) -> None:
        nonlocal deltas
        deltas += 1

    try:
        model = app.models.get(choice)
        prompt = Prompt(
            model=choice,
            system="",
            messages=[UserMessage(text="Call the tool report with the status ready.")],
            tools=(report,),
            first=0,
            history_turns=0,
            turns_left_out=0,
            memory_characters=0,
        )
        began = time.monotonic()
        reply = await model.reply(model.build_request(prompt, None), count)
        milliseconds = (time.monotonic() - began) * 1000
        return _Trial(ref=choice.ref, reply=reply, deltas=deltas, milliseconds=milliseconds)
    finally:
        await app.models.close()
