"""What telemetry is asked for, by the environment: BENCH_TELEMETRY, and for a collector the variables that
every OpenTelemetry SDK reads.

Sources: the OpenTelemetry specification, "OpenTelemetry Protocol Exporter" and "Environment Variable
Specification". An endpoint alone switches nothing on: other programs of the same machine read it too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from metrics import http1
from metrics.records import Problem

SWITCH = "BENCH_TELEMETRY"
KINDS = ("otlp", "prometheus")
SIGNALS = ("traces", "metrics")
COLLECTOR = "http://localhost:4318"
SERVICE = "benchwarmers"

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Options:
    """`traces` and `metrics` are the addresses that a collector takes them at (None: not sent). `delay` and
    `interval` are the seconds between two batches of spans and between two reports of sums, `timeout` those
    that one of them may take; `queue` and `batch` count spans. `token` opens /metrics, beside the admin's."""

    prometheus: bool = False
    traces: str | None = None
    metrics: str | None = None
    headers: Mapping[str, Pairs] = field(default_factory=dict)
    gzip: bool = False
    timeout: float = 10.0
    delay: float = 5.0
    interval: float = 60.0
    queue: int = 2048
    batch: int = 512
    resource: Pairs = (("service.name", SERVICE),)
    token: str | None = None

    @property
    def otlp(self) -> bool:
        return bool(self.traces or self.metrics)


def from_environment(env: Mapping[str, str]) -> Options:
    """What the environment asks for. Problem 400 that names the variable which cannot be used."""
    asked = [word.strip().lower() for word in env.get(SWITCH, "").split(",") if word.strip()]
    unknown = [word for word in asked if word not in (*KINDS, "off")]
    if unknown:
        raise _wrong(SWITCH, unknown[0], "otlp, prometheus, both with a comma between them, or off")
    token = env.get("BENCH_METRICS_TOKEN") or None
    if token is not None and len(token) < 16:
        raise Problem(400, "BENCH_METRICS_TOKEN is too short: it needs 16 characters or more")
    if "off" in asked or not asked or env.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return Options(prometheus="prometheus" in asked and "off" not in asked, token=token)
    if "otlp" not in asked:
        return Options(prometheus=True, token=token)
    protocol = env.get("OTEL_EXPORTER_OTLP_PROTOCOL") or "http/json"
    if protocol == "grpc":
        raise _wrong("OTEL_EXPORTER_OTLP_PROTOCOL", protocol, "http/json, which collectors take at port 4318")
    return Options(
        prometheus="prometheus" in asked,
        traces=_address(env, "traces"),
        metrics=_address(env, "metrics"),
        headers={signal: _headers(env, signal) for signal in SIGNALS},
        gzip=_one_of(env, "OTEL_EXPORTER_OTLP_COMPRESSION", "none", "gzip") == "gzip",
        timeout=_milliseconds(env, "OTEL_EXPORTER_OTLP_TIMEOUT", 10_000),
        delay=_milliseconds(env, "OTEL_BSP_SCHEDULE_DELAY", 5_000),
        interval=_milliseconds(env, "OTEL_METRIC_EXPORT_INTERVAL", 60_000),
        queue=_count(env, "OTEL_BSP_MAX_QUEUE_SIZE", 2048),
        batch=_count(env, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512),
        resource=_resource(env),
        token=token,
    )


def _address(env: Mapping[str, str], signal: str) -> str | None:
    """Where this signal goes: its own variable as it stands, else the common one with its path after it."""
    if _one_of(env, f"OTEL_{signal.upper()}_EXPORTER", "otlp", "none") == "none":
        return None
    own = f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT"
    if env.get(own):
        return _url(own, env[own])
    common = "OTEL_EXPORTER_OTLP_ENDPOINT"
    return _url(common, env.get(common) or COLLECTOR).rstrip("/") + f"/v1/{signal}"


def _url(name: str, value: str) -> str:
    try:
        parts = urlsplit(value.strip())
        good = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        good = None
    if not good:
        raise _wrong(name, value, f"an address such as {COLLECTOR}")
    if "@" in parts.netloc:
        raise Problem(
            400,
            f"{name} must hold no user and password: give them in OTEL_EXPORTER_OTLP_HEADERS, as "
            "authorization=Basic%20 and both in base64",
        )
    return value.strip()


def _headers(env: Mapping[str, str], signal: str) -> Pairs:
    name = f"OTEL_EXPORTER_OTLP_{signal.upper()}_HEADERS"
    name = name if env.get(name) else "OTEL_EXPORTER_OTLP_HEADERS"
    found = _pairs(env, name)
    try:
        http1.fields(found)
    except Problem:
        raise Problem(400, f"{name} holds a name or a value that no HTTP header can have") from None
    return found


def _pairs(env: Mapping[str, str], name: str) -> Pairs:
    """key=value,key=value with percent signs before what is neither; a message never repeats a value."""
    found = []
    for part in filter(None, (part.strip() for part in env.get(name, "").split(","))):
        key, equals, value = part.partition("=")
        text = unquote(value.strip())
        if not equals or not key.strip() or not text.isprintable():
            raise Problem(400, f"{name} must be key=value pairs with commas between them")
        found.append((key.strip(), text))
    return tuple(found)


def _resource(env: Mapping[str, str]) -> Pairs:
    said = dict(_pairs(env, "OTEL_RESOURCE_ATTRIBUTES"))
    name = env.get("OTEL_SERVICE_NAME") or said.get("service.name") or SERVICE
    return tuple({**said, "service.name": name}.items())


def _one_of(env: Mapping[str, str], name: str, *words: str) -> str:
    value = env.get(name) or words[0]
    if value not in words:
        raise _wrong(name, value, " or ".join(words))
    return value


def _milliseconds(env: Mapping[str, str], name: str, usual: int) -> float:
    return _count(env, name, usual) / 1000


def _count(env: Mapping[str, str], name: str, usual: int) -> int:
    value = env.get(name) or str(usual)
    if not (value.isascii() and value.isdigit() and 0 < int(value) <= 10**7):
        raise _wrong(name, value, f"a whole number such as {usual}")
    return int(value)


def _wrong(name: str, value: str, wanted: str) -> Problem:
    return Problem(400, f"{name}={value[:60]} cannot be used: set it to {wanted}")
