from tests.play.practice.lint.table import Checks

DEFAULTS = [
    ("a list that grows", "def f(a, xs=[]):  #! mutable default argument\n    xs.append(a)\n    return xs"),
    ("a dict, by keyword", "def f(*, d={}):  #! mutable default argument\n    d['a'] = 1"),
    ("made by a call", "def f(d=defaultdict(list)):  #! mutable default argument\n    return d"),
    ("a lambda", "f = lambda xs=[]: xs  #! mutable default argument"),
    (
        "a method, over lines",
        "class A:\n"
        "    def f(\n"
        "        self,\n"
        "        xs=set(),  #! mutable default argument\n"
        "    ):\n"
        "        self.xs = xs",
    ),
    ("immutable ones", "def f(a=(), b=None, c=frozenset(), d='x', e=0):\n    return a"),
    ("a table to look things up in", "def f(a, kinds={int, str}):\n    return a in kinds"),
    ("a private mark", "def f(a, _no=[]):\n    return a is _no"),
    ("a private memo", "def f(n, _cache={}):\n    return _cache.setdefault(n, n)"),
    ("a nested function's state", "def f():\n    def g(n=[0]):\n        n[0] += 1\n    return g"),
]
SELF = [
    ("no argument", "class A:\n    def f():  #! missing self\n        return 1"),
    ("self used and not taken", "class A:\n    def f(x):  #! missing self\n        return self.x + x"),
    ("static", "class A:\n    @staticmethod\n    def f():\n        return 1"),
    ("cls", "class A:\n    @classmethod\n    def f(cls):\n        return 1"),
    ("any arguments", "class A:\n    def f(*args):\n        return args"),
    ("another name for self", "class A:\n    def f(this):\n        return this.x"),
    ("a tool for the class body", "class A:\n    def make():\n        return 1\n    x = make()"),
    (
        "a class in a method",
        "class A:\n"
        "    def f(self):\n"
        "        class B:\n"
        "            def g(b):\n"
        "                return self.x\n"
        "        return B",
    ),
    ("implicitly static", "class A:\n    def __class_getitem__():\n        return 1"),
]
INIT = [
    ("a value", "class A:\n    def __init__(self):\n        return self.x  #! value from a constructor"),
    (
        "nothing",
        "class A:\n    def __init__(self, a):\n        if a:\n            return\n        self.a = a",
    ),
]
SHARED = [
    (
        "changed through self",
        "class A:\n"
        "    items = []  #! shared class attribute\n"
        "    def add(self, x):\n"
        "        self.items.append(x)",
    ),
    (
        "item set through self",
        "class A:\n    d = dict()  #! shared class attribute\n    def put(self, k):\n        self.d[k] = 1",
    ),
    (
        "set in __init__ too",
        "class A:\n"
        "    items = []\n"
        "    def __init__(self):\n"
        "        self.items = []\n"
        "    def add(self, x):\n"
        "        self.items.append(x)",
    ),
    ("never changed", "class A:\n    names = ['a']\n    def all(self):\n        return self.names"),
    (
        "a registry is meant",
        "class A:\n    registry = {}\n    def put(self, k):\n        self.registry[k] = self",
    ),
    ("immutable", "class A:\n    items = ()\n    def add(self, x):\n        self.items += (x,)"),
]
CALLS = [
    ("too many", "def f(a, b):\n    return a\nf(1, 2, 3)  #! call does not fit"),
    ("too few", "def f(a, b, c=1):\n    return a\nf(1)  #! call does not fit"),
    ("unknown name", "def f(a, b=1):\n    return a\nf(1, d=2)  #! call does not fit"),
    ("keyword-only missing", "def f(a, *, b):\n    return a\nf(1)  #! call does not fit"),
    ("fits", "def f(a, b=1, *c, d=2, **e):\n    return a\nf(1)\nf(1, 2, 3, d=4, x=5)\nf(a=1)"),
    ("unpacked", "def f(a, b):\n    return a\nf(*xs)\nf(1, **d)"),
    ("decorated", "@click.command()\ndef f(a, b):\n    return a\nf()"),
    (
        "defined in two ways",
        "if x:\n    def f(a):\n        return a\nelse:\n    def f():\n        return 1\nf()",
    ),
    ("rebound", "def f(a):\n    return a\nf = partial(f, 1)\nf()"),
    (
        "a method of that name",
        "def f(a):\n"
        "    return a\n"
        "class A:\n"
        "    def f(self):\n"
        "        return 1\n"
        "    def g(self):\n"
        "        return self.f()",
    ),
    ("a local of that name", "def f(a):\n    return a\ndef g(f):\n    return f()"),
]
AWAIT = [
    ("a function", "async def f():\n    g()\nasync def h():\n    f()  #! coroutine not awaited"),
    (
        "a method",
        "class A:\n"
        "    async def f(self):\n"
        "        g()\n"
        "    async def h(self):\n"
        "        self.f()  #! coroutine not awaited",
    ),
    ("awaited", "async def f():\n    g()\nasync def h():\n    await f()"),
    (
        "given to a task",
        "async def f():\n    g()\nasync def h():\n    t = create_task(f())\n    await t\nasyncio.run(f())",
    ),
    (
        "a plain function of that name",
        "class A:\n    async def f(self):\n        g()\ndef f():\n    g()\nf()",
    ),
]
IN_PLACE = [
    (
        "sort kept",
        "def f(a):\n    xs = list(a)\n    ys = xs.sort()  #! None kept from a method\n    return ys",
    ),
    ("assigned to itself", "xs = [1]\nxs = xs.append(2)  #! None kept from a method"),
    ("shuffle", "import random\nxs = random.shuffle(ys)  #! None kept from a method"),
    ("looped over", "xs = sorted(y)\nfor x in xs.reverse():  #! None kept from a method\n    g(x)"),
    ("on a line of its own", "xs = [1]\nxs.sort()\nxs.append(2)"),
    ("sorted", "xs = [1]\nys = sorted(xs)"),
    ("somebody else's append", "row = table.append(x)\nt = tree.insert(3)"),
]


class Functions(Checks):
    def test_defaults(self):
        self.hold(DEFAULTS)

    def test_self(self):
        self.hold(SELF)

    def test_init(self):
        self.hold(INIT)

    def test_shared_attributes(self):
        self.hold(SHARED)

    def test_calls(self):
        self.hold(CALLS)

    def test_await(self):
        self.hold(AWAIT)

    def test_in_place(self):
        self.hold(IN_PLACE)
