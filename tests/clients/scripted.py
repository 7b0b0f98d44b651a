"""Members of a fake provider, each with an answer of its own kind: what the checks of a format ask for.

`seat_all` seats every one in the collection `c-<alias>`, which can be asked as a panel and as a route.
"""

import base64

from tests.provider import CUT, Answer, Provider, Received, Scripted, chunk, error, stream, text
from tests.running import Running

HELLO = [{"role": "user", "content": "hello"}]
READ_IT = "Read the file notes.txt"  # what practice-agent needs to hear to call read_file
FOUND = "seven herons"
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
SEEN = f"image/png, {len(PNG)} bytes"  # what the member `seeing` says of it


def call(name: str, *pieces: str, index: int = 0, finish: str | None = None) -> list[dict[str, object]]:
    """The chunks of one tool call."""
    start = {
        "index": index,
        "id": f"call_{name}{index}",
        "type": "function",
        "function": {"name": name, "arguments": ""},
    }
    rest = [{"index": index, "function": {"arguments": piece}} for piece in pieces]
    chunks = [chunk({"tool_calls": [entry]}) for entry in (start, *rest)]
    return [*chunks, chunk({}, finish)] if finish else chunks


def seen(request: Received) -> Answer:
    """Says which pictures came, as `image/png, 68 bytes`."""
    contents = [message["content"] for message in request.json["messages"]]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    told = []
    for url in (part["image_url"]["url"] for part in parts if part["type"] == "image_url"):
        head, _, data = url.removeprefix("data:").partition(";base64,")
        told.append(f"{head}, {len(base64.b64decode(data, validate=True))} bytes")
    return text("; ".join(told) or "nothing to see")


def filled(request: Received) -> Answer:
    """A call of the first tool with a city, or the city in JSON where there are no tools."""
    tools = request.json.get("tools")
    if not tools:
        return text('{"city": "Paris"}')
    return stream(*call(tools[0]["function"]["name"], '{"city":', '"Paris"}', finish="tool_calls"))


ANSWERS: dict[str, Scripted] = {
    "limited": error(429, "slow down", headers={"Retry-After": "77"}),
    "refusing": error(400, "no such parameter"),
    "broken": error(500, "boom"),
    "cut": stream(chunk({"content": "half"}), CUT, done=False),
    "long": text("as far as it", finish="length"),
    "filtered": text("no", finish="content_filter"),
    "thinking": stream(chunk({"reasoning_content": "hm "}), chunk({"content": "so"}), chunk({}, "stop")),
    "patching": stream(
        *call("write_patch", '{"inp', 'ut": "*** Begin\\n+\\u00e9', '\\n"}', finish="tool_calls")
    ),
    "looking": stream(*call("mcp__b__look", '{"city":"Paris"}', finish="tool_calls")),
    "calling": stream(
        chunk({"content": "I look."}),
        *call("get_weather", '{"city":', '"Paris"}'),
        *call("get_weather", '{"city":"Rome"}', index=1, finish="tool_calls"),
    ),
    "cutcall": stream(*call("get_weather", '{"city":"Par', finish="length")),
    "structured": text('{"city": "Paris"}'),
    "plain": text("first answer"),
    "seeing": seen,
    "filling": filled,
}


def seat_all(bench: Running, provider: Provider) -> None:
    bench.save("/api/endpoint", name="fake", base=provider.base, key="sk-test-key", test=False)
    for alias, answer in ANSWERS.items():
        provider.script(alias, answer)
        bench.save("/api/model/add", alias=alias, endpoint="fake", served=alias, tools=True, vision=True)
        bench.save("/api/collection", name=f"c-{alias}", members=[alias], explorers=0)
    bench.seat("pair", provider.base, "m1", "m2")
    provider.script("m1", text("first answer"))
    bench.save("/api/collection", name="agents", members=["practice-agent"], explorers=0, reply="route")
