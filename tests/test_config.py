"""Settings: who overrides whom, what is refused and how it is said."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from oribi.agents.workspace import Workspace, init_workspace
from oribi.config import Config, Overrides, load_config, system_environment
from oribi.core.errors import ConfigError
from oribi.journal.quota import DailyLimits, Quota
from oribi.models.endpoints import Dialect, Endpoint, known_endpoints
from oribi.models.limits import Limits
from oribi.tools.notify import LogChannel, WebhookChannel

ENVIRONMENT = {"HOOK": "https://example.com/secret-hook", "BAD": "ftp://secret-host/"}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    home = tmp_path / ".oribi"
    home.mkdir()
    return Workspace(root=tmp_path, home=home)


def load(
    workspace: Workspace,
    text: str | bytes = "",
    *,
    environment: dict[str, str] | None = None,
    flags: Overrides | None = None,
) -> Config:
    workspace.settings_file.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_config(workspace, environment=ENVIRONMENT | (environment or {}), flags=flags)


def error(workspace: Workspace, text: str | bytes, environment: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load(workspace, text, environment=environment)
    return str(caught.value)


def test_without_a_file_the_defaults_hold(workspace: Workspace) -> None:
    assert load_config(workspace, environment={}) == Config(
        default_model=None,
        default_agent="default",
        zone="UTC",
        providers=known_endpoints(),
        notify=(),
        synchronous="full",
        log_level="warning",
    )


def test_everything_in_the_file_is_read(workspace: Workspace) -> None:
    config = load(
        workspace,
        """\
default_model = "local:qwen3"
default_agent = "ops"
zone = "Europe/Berlin"

[providers.local]
base_url = "http://127.0.0.1:8080/v1"

[providers.proxy]
base_url = "https://proxy.example.com/anthropic"
wire = "anthropic"
key_env = "PROXY_KEY"
headers = { X-Team = "ops" }
dialect = { stream = false, prompt_cache = true, structured_output = true, media = false }

[notify.team]
file = ".oribi/logs/team.log"

[notify.pager]
url = "${HOOK}"
headers_env = { Authorization = "PAGER_TOKEN" }

[journal]
synchronous = "normal"

[log]
level = "debug"
""",
    )
    assert config == Config(
        default_model="local:qwen3",
        default_agent="ops",
        zone="Europe/Berlin",
        providers=known_endpoints()
        | {
            "local": Endpoint(provider="local", wire="openai-chat", base_url="http://127.0.0.1:8080/v1"),
            "proxy": Endpoint(
                provider="proxy",
                wire="anthropic",
                base_url="https://proxy.example.com/anthropic",
                key_env="PROXY_KEY",
                headers={"X-Team": "ops"},
                dialect=Dialect(stream=False, prompt_cache=True, structured_output=True, media=False),
            ),
        },
        notify=(
            LogChannel(name="team", file=".oribi/logs/team.log"),
            WebhookChannel(
                name="pager",
                url="https://example.com/secret-hook",
                headers_env=(("Authorization", "PAGER_TOKEN"),),
            ),
        ),
        synchronous="normal",
        log_level="debug",
    )


def test_a_known_provider_can_be_reached_elsewhere_and_keeps_the_rest(workspace: Workspace) -> None:
    config = load(workspace, '[providers.openai]\nbase_url = "https://gateway.example.com/v1"\n')
    known = known_endpoints()["openai"]
    assert config.providers["openai"] == Endpoint(
        provider="openai",
        wire="openai-chat",
        base_url="https://gateway.example.com/v1",
        key_env="OPENAI_API_KEY",
        dialect=known.dialect,
    )


def test_ollama_is_where_its_own_variable_says(workspace: Workspace) -> None:
    config = load(workspace, environment={"OLLAMA_HOST": "10.0.0.7:9000"})
    assert config.providers["ollama"].base_url == "http://10.0.0.7:9000/v1"


def test_flags_go_before_the_environment_and_the_environment_before_the_file(workspace: Workspace) -> None:
    text = 'default_model = "a:file"\nzone = "Europe/Berlin"\n[journal]\nsynchronous = "normal"\n'
    environment = {
        "ORIBI_DEFAULT_MODEL": "a:environment",
        "ORIBI_ZONE": "Asia/Tokyo",
        "ORIBI_DEFAULT_AGENT": "ops",
        "ORIBI_LOG_LEVEL": "",
    }
    assert load(workspace, text).default_model == "a:file"
    config = load(workspace, text, environment=environment, flags=Overrides(default_model="a:flag"))
    assert (config.default_model, config.zone, config.default_agent, config.synchronous, config.log_level) == (
        "a:flag",
        "Asia/Tokyo",
        "ops",
        "normal",
        "warning",
    )


def test_the_file_that_init_writes_is_read_and_says_the_defaults(tmp_path: Path) -> None:
    workspace = init_workspace(tmp_path).workspace
    assert load_config(workspace, environment={}) == Config()


def test_what_init_shows_in_comments_can_be_switched_on(tmp_path: Path) -> None:
    workspace = init_workspace(tmp_path).workspace
    shown = workspace.settings_file.read_text().split("\n")
    switched = [line.removeprefix("# ") if " = " in line or line.startswith("# [") else line for line in shown]
    config = load(workspace, "\n".join(switched))
    assert config.default_model == "anthropic:claude-sonnet-4-5"
    assert config.providers["local"].key_env == "LOCAL_API_KEY"
    assert [channel.name for channel in config.notify] == ["team", "pager"]


def test_mistakes_are_named_with_file_line_and_key_all_at_once(workspace: Workspace) -> None:
    assert error(
        workspace,
        """\
default_modle = "a:b"
default_agent = 7
default_model = "gpt"
zone = "Mars/Olympus"
journal = { synchronous = "sometimes" }

[log]
level = 2024-01-01

[providers.none]
wire = "openai-chat"

[providers.odd]
base_url = "ftp://example.com"
wire = "telepathy"
key = "sk-1"

[providers."a b"]
base_url = "http://x"

[notify]
flat = "x"

[notify.both]
file = "a"
url = "http://b"

[notify.out]
file = "../../etc/passwd"

[notify.where]
url = "${BAD}"

[notify.headers]
file = "a.log"
headers_env = { X = "Y" }
""",
    ) == snapshot("""\
oribi.toml:1: unknown key 'default_modle'; did you mean 'default_model'?
oribi.toml:2: default_agent must be a text (put it in "quotes"), not 7
oribi.toml:3: default_model must be 'provider:name', such as 'anthropic:claude-sonnet-4-5', not 'gpt'
oribi.toml:4: zone must be a time zone such as 'Europe/Berlin', not 'Mars/Olympus'
oribi.toml:5: journal.synchronous must be 'full' or 'normal', not 'sometimes'
oribi.toml:8: log.level must be 'debug', 'info', 'warning' or 'error', not '2024-01-01'
oribi.toml:10: providers.none.base_url is missing
oribi.toml:14: providers.odd.base_url must be a web address such as 'https://host/v1', not 'ftp://example.com'
oribi.toml:15: providers.odd.wire must be 'openai-chat', 'openai-responses', 'anthropic' or 'gemini', not 'telepathy'
oribi.toml:16: unknown key 'providers.odd.key'; did you mean 'providers.odd.key_env'?
oribi.toml:18: providers: 'a b' cannot be a name; use letters, digits, '.', '_' and '-'
oribi.toml:22: notify.flat must be a table of keys, not 'x'
oribi.toml:24: notify.both needs either file or url
oribi.toml:29: notify.out.file must be a path within the project folder, not '../../etc/passwd'
oribi.toml:32: notify.where.url must be a web address such as 'https://example.com/hook', not '${BAD}'
oribi.toml:36: notify.headers.headers_env goes with url, not with file\
""")


def test_a_mistake_in_a_variable_or_a_flag_is_named_by_it(workspace: Workspace) -> None:
    with pytest.raises(ConfigError) as caught:
        load(
            workspace,
            "x = 1",
            environment={"ORIBI_ZONE": "Europe", "ORIBI_JOURNAL_SYNCHRONOUS": "off"},
            flags=Overrides(log_level="loud", default_model="gpt"),
        )
    assert str(caught.value) == snapshot("""\
command line: --model must be 'provider:name', such as 'anthropic:claude-sonnet-4-5', not 'gpt'
command line: --log-level must be 'debug', 'info', 'warning' or 'error', not 'loud'
environment: ORIBI_ZONE must be a time zone such as 'Europe/Berlin', not 'Europe'
environment: ORIBI_JOURNAL_SYNCHRONOUS must be 'full' or 'normal', not 'off'
oribi.toml:1: unknown key 'x'; known keys: default_model, default_agent, zone, providers, notify, journal, log, quota, \
models\
""")


def test_a_secret_from_the_environment_is_not_shown(workspace: Workspace) -> None:
    text = 'zone = "${BAD}"\ndefault_model = "${BAD}"\n[providers.x]\nbase_url = "${BAD}"\n[notify.x]\nurl = "${BAD}"'
    shown = error(workspace, text)
    assert "secret" not in shown
    assert shown.count("${BAD}") == 3, "the model's shape is that of any URL with a scheme"


def test_a_file_that_cannot_be_read_is_named_by_line(workspace: Workspace) -> None:
    assert error(workspace, 'zone = "UTC"\nzone = "UTC"\n') == snapshot(
        "oribi.toml:2: is not TOML: Cannot overwrite a value"
    )
    assert error(workspace, "zone = \n") == snapshot("oribi.toml:1: is not TOML: Invalid value")
    assert error(workspace, b'zone = "UTC"\n# caf\xe9\n') == snapshot(
        "oribi.toml:2: is not UTF-8; save the file as UTF-8"
    )
    assert error(workspace, "zone = " + "[" * 10_000).startswith("oribi.toml: is not TOML: ")
    assert error(workspace, "zone = " + "9" * 10_000).startswith("oribi.toml: is not TOML: ")
    assert error(workspace, 'zone = "a\\u0000b"') == snapshot("oribi.toml:1: zone holds a NUL character; remove it")
    assert error(workspace, 'zone = "${NOWHERE}"') == snapshot("""\
oribi.toml:1: zone needs the environment variable NOWHERE, which is not set; set it, or write \
${NOWHERE:-value} to give a default\
""")
    workspace.settings_file.unlink()
    workspace.settings_file.mkdir()
    with pytest.raises(ConfigError) as caught:
        load_config(workspace, environment={})
    assert str(caught.value) == snapshot("oribi.toml: cannot be read: Is a directory")


def test_a_byte_order_mark_and_windows_line_ends_are_tolerated(workspace: Workspace) -> None:
    assert load(workspace, b'\xef\xbb\xbfzone = "Asia/Tokyo"\r\n[log]\r\nlevel = "info"\r\n').log_level == "info"


def test_the_environment_is_read_when_asked_and_is_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORIBI_TEST_ONLY", "1")
    environment = system_environment()
    monkeypatch.delenv("ORIBI_TEST_ONLY")
    assert environment["ORIBI_TEST_ONLY"] == "1"


KEYS = st.sampled_from(
    ["default_model", "zone", "providers", "notify", "journal", "log", "x", "synchronous", "file", "url"]
)
VALUES = st.recursive(
    st.sampled_from(["1", "true", "nan", '""', '"${NO}"', '"a:b"', '"http://["', "2024-01-01", "1e999", "9" * 30]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(KEYS, inner, max_size=2).map(
            lambda entries: "{" + ", ".join(f"{key} = {value}" for key, value in entries.items()) + "}"
        ),
    ),
    max_leaves=4,
)


@given(
    text=st.one_of(
        st.text(),
        st.dictionaries(KEYS, VALUES, max_size=4).map(lambda d: "\n".join(f"{k} = {v}" for k, v in d.items())),
    )
)
def test_any_text_gives_settings_or_a_config_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    home = tmp_path_factory.getbasetemp() / "any" / ".oribi"
    home.mkdir(parents=True, exist_ok=True)
    workspace = Workspace(root=home.parent, home=home)
    try:
        config = load(workspace, text.encode("utf-8", "surrogatepass"))
    except ConfigError as problem:
        assert all(line.startswith("oribi.toml") for line in str(problem).split("\n"))  # noqa: PT017 - either is right
    else:
        assert config.synchronous in {"full", "normal"}


def test_the_silence_allowed_to_a_provider_is_read(workspace: Workspace) -> None:
    config = load(workspace, "[providers.ollama]\nidle_seconds = 900\n")
    assert config.providers["ollama"].idle_seconds == 900
    assert config.providers["openai"].idle_seconds is None


def test_a_providers_limits_are_read_and_zero_failures_means_that_the_circuit_never_opens(workspace: Workspace) -> None:
    text = "[providers.openai.limits]\nconcurrent = 4\nper_minute = 60\nfailures_to_open = 0\n"
    config = load(workspace, text)
    assert config.providers["openai"].limits == Limits(concurrent=4, per_minute=60, failures_to_open=None)
    assert config.providers["anthropic"].limits == Limits()


def test_a_daily_quota_is_read_and_a_principal_has_what_it_says_and_the_rest_of_everybody(workspace: Workspace) -> None:
    """M-16."""
    config = load(
        workspace,
        """\
[quota]
model_calls = 200
total_tokens = 1_000_000

[quota.principals.ann]
model_calls = 500

[quota.principals."telegram:7"]
tool_calls = 0

[models]
max_concurrent_calls = 4
""",
    )
    assert config.quota == Quota(
        everybody=DailyLimits(model_calls=200, total_tokens=1_000_000),
        principals={
            "ann": DailyLimits(model_calls=500, total_tokens=1_000_000),
            "telegram:7": DailyLimits(model_calls=200, tool_calls=0, total_tokens=1_000_000),
        },
    )
    assert config.max_concurrent_calls == 4
    wrong = """\
[quota]
calls = 3
tool_calls = -1
[quota.principals]
bob = 3
ann = { total_tokens = "many", steps = 2 }
[models]
max_concurrent_calls = 0
"""
    assert error(workspace, wrong) == snapshot("""\
oribi.toml:2: unknown key 'quota.calls'; did you mean 'quota.tool_calls'?
oribi.toml:3: quota.tool_calls must be a whole number from 0 to 9007199254740992, not -1
oribi.toml:5: quota.principals.bob must be a table of keys, not 3
oribi.toml:6: unknown key 'quota.principals.ann.steps'; known keys: model_calls, tool_calls, total_tokens
oribi.toml:6: quota.principals.ann.total_tokens must be a whole number from 0 to 9007199254740992, not 'many'
oribi.toml:8: models.max_concurrent_calls must be a whole number from 1 to 1000000, not 0\
""")


def test_the_example_of_the_reference_is_valid_and_names_every_table(workspace: Workspace) -> None:
    text = (Path(__file__).parent.parent / "docs" / "reference" / "oribi-toml.md").read_text(encoding="utf-8")
    config = load(workspace, text.split("```toml\n")[1].split("```")[0])
    assert config.max_concurrent_calls == 8
    assert config.quota.limits_of("ann") == DailyLimits(model_calls=5000, tool_calls=2000, total_tokens=2_000_000)
    assert (config.zone, config.synchronous, len(config.notify)) == ("Europe/Berlin", "full", 1)
    assert error(workspace, "x = 1").split("known keys: ")[1].split(", ") == [
        key
        for key in (
            "default_model",
            "default_agent",
            "zone",
            "providers",
            "notify",
            "journal",
            "log",
            "quota",
            "models",
        )
        if f"\n{key}" in text or f"\n[{key}" in text
    ]
