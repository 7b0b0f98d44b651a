"""What Gemini's callers send, for its tests: a conversation, its pieces, and `parse` without a bench."""

import base64
import json

from metrics.formats import gemini
from metrics.web.table import Call
from tests.formats.naming import naming

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\xfb\xef\xff" * 3).decode()
URL_SAFE = PNG.replace("+", "-").replace("/", "_").rstrip("=")
PICTURE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
HELLO = [{"role": "user", "parts": [{"text": "hello"}]}]
SAID = [{"role": "user", "content": "hello"}]
DECLARED = {"functionDeclarations": [{"name": "look", "parameters": {"type": "OBJECT"}}, {"name": "go"}]}
CALL = {"functionCall": {"name": "look", "args": {"snake_case": {"inner_key": 1}}}}
RESPONSE = {"functionResponse": {"name": "look", "response": {"result": "row 4"}}}


def resolved(model, reply=None):
    name, _, suffix = str(model).removeprefix("bench/").partition(":")
    return name, reply or suffix or "all"


def parse(name="bench/core:route", method="generateContent", query="", **fields):
    asked = Call(
        "POST",
        f"/v1beta/models/{name}:{method}{query}",
        {},
        json.dumps({"contents": HELLO, **fields}).encode(),
    )
    asked.parts = {"version": "v1beta", "name": f"models/{name}"}
    with naming(resolved):
        return gemini.parse(asked)


def turns(*contents, **fields):
    return parse(contents=list(contents), **fields).messages


def user(*parts):
    return {"role": "user", "parts": list(parts)}


def model(*parts):
    return {"role": "model", "parts": list(parts)}
