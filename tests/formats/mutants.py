"""Bodies as careless and hostile callers send them: a good one with something changed, and random JSON."""

import copy
import json
import random
import re

from metrics.records import Problem
from metrics.web.table import Call

HUGE = "1" + "0" * 400


ODD = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    300.0,
    int(HUGE),
    1e300,
    "",
    "x",
    "x\ud800",
    "y" * 20_000,
    "data:,",
    "file:///etc/passwd",
    [],
    {},
    [1],
    [None],
    [[]],
    [{}],
    {"a": 1},
    {"": None},
    {"text": 5},
    {"_": {"_a": 1}},
]


def bodies(good, seed, count):
    """`count` bodies as bytes: each `good` with one to three places changed, or JSON of any kind."""
    chance = random.Random(seed)
    for number in range(count):
        if number % 5 == 4:
            yield written(anything(chance, 4))
            continue
        body = copy.deepcopy(good)
        for _ in range(chance.randint(1, 3)):
            change(body, chance)
        yield written(body)


def change(body, chance):
    """Replace, remove or add something somewhere in `body`."""
    places = list(_places(body))
    if not places:
        body["unknown"] = odd(chance)
        return
    holder, key = chance.choice(places)
    if isinstance(holder, dict) and chance.random() < 0.15:
        del holder[key]
    elif isinstance(holder, dict) and chance.random() < 0.15:
        holder[chance.choice(("unknown", "snake_case", "thought", "type", "with", "bench"))] = odd(chance)
    else:
        holder[key] = odd(chance)


def odd(chance):
    roll = chance.random()
    if roll < 0.05:
        return nested(chance.choice((50, 90, 150, 400, 700)), chance)
    if roll < 0.1:
        return {"infinite": float("inf")} if chance.random() < 0.5 else float("inf")
    return copy.deepcopy(chance.choice(ODD))


def nested(levels, chance):
    """Lists or objects in each other, as a mark for `written`: Python's writer would give up."""
    return f"<nested {levels} {chance.randint(0, 1)}>"


def anything(chance, depth):
    """Random JSON."""
    roll = chance.random()
    if depth == 0 or roll < 0.4:
        return odd(chance)
    if roll < 0.6:
        return [anything(chance, depth - 1) for _ in range(chance.randint(0, 3))]
    names = (
        "model",
        "messages",
        "contents",
        "parts",
        "role",
        "content",
        "tools",
        "options",
        "prompt",
        "images",
    )
    return {chance.choice(names): anything(chance, depth - 1) for _ in range(chance.randint(0, 4))}


def written(body):
    """JSON, with infinity as a number that is legal and past all counting."""
    return _NESTED.sub(_nest, json.dumps(body).replace("Infinity", "1e999")).encode()


_NESTED = re.compile(r'"<nested (\d+) (\d)>"')


def _nest(mark):
    levels, is_list = int(mark[1]), mark[2] == "1"
    before, after = ("[", "]") if is_list else ('{"items":', "}")
    return before * levels + "1" + after * levels


def refused_well(parse, path, parts, body):
    """Parse `body`: None when it is taken, the Problem when it is refused. Anything else is raised."""
    try:
        parse(Call("POST", path, {}, body, parts=parts))
    except Problem as problem:
        if not 400 <= problem.status < 500 or not problem.message:
            raise AssertionError(f"{problem.status}: {problem.message!r}") from problem
        return problem
    return None


def _places(value):
    """(holder, key) of every value in `value`."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _places(value[key])
