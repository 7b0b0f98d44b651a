"""What a large request costs in memory: how far the server's peak rises above what it held before, in times
of the request's body, for a long prompt and for a picture, in every format.

Each case has a server of its own that has answered a small question of the same kind: memory that an earlier
case left behind would hide what a later one takes. Linux only: nothing else tells the peak."""

import base64
import json
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from scripts.bench import product
from scripts.bench.forms import FORMS, Form, Question
from scripts.bench.product import Target

MOST = 4.0  # times the body
LINE = 'The quick brown fox jumps over the lazy dog, "and again";\n'
PROMPT = 2_000_000  # bytes of body
PICTURE = 19_000_000  # below the 20 MB that the server takes
PNG = b"\x89PNG\r\n\x1a\n"
MODELS = {"panel of 1": "bench/one", "panel of 5": "bench/five", "route": "bench/one:route"}
PATIENCE = 120.0  # s


class Load(NamedTuple):
    """A body to send. `rise` is the server's peak above what it held before, in bytes."""

    form: str
    what: str
    model: str
    body: int
    rise: int

    @property
    def times(self) -> float:
        return self.rise / self.body


def bodies(form: Form, model: str) -> Iterable[tuple[str, bytes]]:
    """(what it is, body) of the large requests that `form` can hold."""
    kinds = {"prompt": LINE, "prompt with ’": LINE.replace(",", "’")}
    for what, line in kinds.items():
        text = line * (PROMPT // len(json.dumps(line, ensure_ascii=False).encode()[1:-1]))
        yield what, _body(form, Question(model, text))
    if form.sees:
        picture = base64.b64encode(PNG + bytes(range(256)) * (PICTURE * 3 // 4 // 256)).decode()
        yield "picture", _body(form, Question(model, "What is this?", picture=picture))


def _body(form: Form, asked: Question) -> bytes:
    return json.dumps(form.body(asked), ensure_ascii=False).encode()


def measure(folder: Path, provider: Target, note: Callable[[str], None]) -> list[Load]:
    loads: list[Load] = []
    for form in FORMS:
        for name, model in MODELS.items():
            for what, body in bodies(form, model):
                home = folder / f"{len(loads)}"
                loads.append(Load(form.name, what, name, len(body), rise(home, provider, form, model, body)))
        note(form.name)
    return loads


def rise(home: Path, provider: Target, form: Form, model: str, body: bytes) -> int:
    with product.server(home) as server:
        server.seat(provider)
        path = form.path(Question(model, ""))
        small = Question(model, "Hello", picture=base64.b64encode(PNG).decode() if form.sees else "")
        for _ in range(3):
            _ask(server.port, path, _body(form, small))
        before = settled(server.pid)
        _ask(server.port, path, body)
        return peak(server.pid) - before


def _ask(port: int, path: str, body: bytes) -> None:
    """RuntimeError when it is not answered as it should be."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", body, {"Content-Type": "application/json"}
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=PATIENCE) as reply:
        if b"dog." not in reply.read():
            raise RuntimeError(f"{path} did not answer with the provider's words")


def settled(pid: int) -> int:
    """What the process holds now, with its peak set back to that where the system lets us."""
    with suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
    return _field(pid, "VmRSS")


def peak(pid: int) -> int:
    return _field(pid, "VmHWM")


def _field(pid: int, name: str) -> int:
    """Bytes, from /proc/PID/status."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024


def table(loads: Iterable[Load]) -> Iterable[str]:
    yield f"{'':<18}{'':<16}{'':<12}{'body MB':>9}{'rise MB':>9}{'times':>7}"
    for load in loads:
        sizes = f"{load.body / 1e6:>9.1f}{load.rise / 1e6:>9.1f}{load.times:>7.2f}"
        yield f"{load.form:<18}{load.what:<16}{load.model:<12}{sizes}{'  over' if load.times >= MOST else ''}"


def heavy(loads: Iterable[Load]) -> list[str]:
    """Sentences about requests that take too much; none when all is well."""
    return [
        f"{load.form}, {load.what}, {load.model}: the peak rises x{load.times:.1f} of the body; "
        f"it must stay under x{MOST:g}"
        for load in loads
        if load.times >= MOST
    ]


def report(loads: list[Load]) -> Mapping[str, Any]:
    told = [load._asdict() | {"times": load.times} for load in loads]
    return {"loads": told, "errors": 0, "missed": heavy(loads)}
