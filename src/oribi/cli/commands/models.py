"""`oribi models`: which providers there are, and whether a model answers."""

from __future__ import annotations

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
        print_json({"default_model": default, "providers": providers})
        return
    rows = [("PROVIDER", "WIRE", "KEY", "ADDRESS")]
    for one in endpoints:
        key = "none needed" if one.key_env is None else f"{one.key_env} {'set' if is_set[one.provider] else 'not set'}"
        rows.append((one.provider, one.wire, key, _without_secrets(one.base_url)))
    print_table(rows)
    click.echo(f"default model: {default or 'none; set default_model in oribi.toml'}", err=True)


@command.command("test", epilog=examples("oribi models test", "oribi models test anthropic:claude-sonnet-4-5"))
@global_options()
@click.argument("name", metavar="[PROVIDER:NAME]", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def test_model(flags: Flags, *, name: str | None, as_json: bool) -> None:
    """Ask a model one small question and say what came.

    This is a real call and may cost a fraction of a cent; it is not recorded in any session. Without a name, the
    workspace's default model is asked.
    """
    import anyio

    from oribi.cli.looking import open_to_look, print_json, print_text
    from oribi.cli.wording import duration, one_line, tokens_text

    with open_to_look(flags) as app:
        ref, reply, milliseconds = anyio.run(_ask, app, name)
    if as_json:
        print_json(
            {
                "model": ref,
                "answered_as": reply.model,
                "text": reply.text,
                "stop": reply.stop,
                "input_tokens": reply.usage.input_tokens,
                "output_tokens": reply.usage.output_tokens,
                "milliseconds": milliseconds,
            }
        )
        return
    named = f" (it calls itself {one_line(reply.model, 80)})" if reply.model not in {"", ref.partition(":")[2]} else ""
    tokens = tokens_text(reply.usage.input_tokens, reply.usage.output_tokens)
    print_text(
        f"{ref} answered in {duration(milliseconds)}, {tokens}{named}: {one_line(reply.text, 200) or '(nothing)'}\n"
    )


def _without_secrets(url: str) -> str:
    """The address without user, password and query: they may hold keys that oribi.toml took from the environment."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


async def _ask(app: App, name: str | None) -> tuple[str, Reply, float]:
    import time

    from oribi.core.errors import ConfigError
    from oribi.core.messages import ModelChoice, UserMessage
    from oribi.core.prompt import Prompt
    from oribi.models.endpoints import parse_model_ref

    ref = name or app.config.default_model
    if ref is None:
        raise ConfigError("no model is named and the workspace has no default; give one as provider:name")
    provider, model_name = parse_model_ref(ref, [*app.config.providers, "scripted"])
    wire = "scripted" if provider == "scripted" else app.config.providers[provider].wire
    choice = ModelChoice(provider=provider, name=model_name, wire=wire)
    try:
        model = app.models.get(choice)
        prompt = Prompt(
            model=choice,
            system="",
            messages=[UserMessage(text="Answer with one word: ready")],
            tools=(),
            first=0,
            history_turns=0,
            turns_left_out=0,
            memory_characters=0,
        )
        began = time.monotonic()
        reply = await model.reply(model.build_request(prompt, None), lambda _: None)
        return choice.ref, reply, (time.monotonic() - began) * 1000
    finally:
        await app.models.close()
