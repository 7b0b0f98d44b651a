from tests.play.practice.lint.table import Checks

UNREACHABLE = [
    ("after return", "def f():\n    return 1\n    print('x')  #! unreachable code"),
    ("after raise in a loop", "for x in y:\n    raise E\n    x()  #! unreachable code"),
    ("after continue", "for x in y:\n    continue\n    x()  #! unreachable code"),
    (
        "both branches leave",
        "def f(a):\n    if a:\n        return 1\n    else:\n        raise E\n    g()  #! unreachable code",
    ),
    ("after an endless loop", "while True:\n    g()\nh()  #! unreachable code"),
    ("after sys.exit", "import sys\nsys.exit(1)\ng()  #! unreachable code"),
    (
        "try and handlers all leave",
        """
        def f():
            try:
                return g()
            except ValueError:
                raise E
            h()  #! unreachable code
     """,
    ),
    ("one branch goes on", "def f(a):\n    if a:\n        return 1\n    g()\n    return 2"),
    ("a loop with a break", "while True:\n    if g(): break\nh()"),
    (
        "a break of an inner loop's else",
        "while True:\n    for x in y:\n        pass\n    else:\n        break\nh()",
    ),
    ("a yield makes a generator", "def f():\n    return\n    yield"),
    ("an abstract generator", "def f():\n    raise NotImplementedError\n    yield 1"),
    ("with may swallow", "def f():\n    with suppress(E):\n        raise E\n    g()"),
    ("a handler goes on", "def f():\n    try:\n        return g()\n    except E:\n        pass\n    h()"),
    (
        "match without a catch-all",
        "def f(x):\n    match x:\n        case 1:\n            return 1\n    g()\n    return 2",
    ),
]
MISSING = [
    ("one branch only", "def f(a):  #! missing return\n    if a:\n        return 1"),
    (
        "an elif chain",
        "def f(a):  #! missing return\n"
        "    if a == 1:\n"
        "        return 'x'\n"
        "    elif a == 2:\n"
        "        return 'y'",
    ),
    ("a bare return", "def f(a):\n    if a:\n        return  #! missing return\n    return a + 1"),
    (
        "a handler prints",
        "def f(s):  #! missing return\n"
        "    try:\n"
        "        return int(s)\n"
        "    except ValueError:\n"
        "        print(s)",
    ),
    (
        "promised",
        "def f(a) -> int:  #! missing return\n    for x in a:\n        if x.ok:\n            return x.value",
    ),
    ("promised, by a call", "def f(a) -> str:  #! missing return\n    if a:\n        return g(a)"),
    ("raises at the end", "def f(a):\n    if a:\n        return 1\n    raise E"),
    ("may be None", "def f(a) -> int | None:\n    if a:\n        return 1"),
    ("optional", "def f(a) -> Optional[int]:\n    if a:\n        return 1"),
    ("the usual search", "def f(xs):\n    for x in xs:\n        if x.ok:\n            return x"),
    ("a procedure that calls another", "def f(a):\n    if a:\n        return g(a)\n    h(a)"),
    ("a generator", "def f(a):\n    yield 1\n    if a:\n        return 2"),
    (
        "every case of a match",
        "def f(a):\n"
        "    match a:\n"
        "        case 1:\n"
        "            return 1\n"
        "        case _:\n"
        "            return 2",
    ),
    ("fails at the end", "def f(self, a):\n    if a:\n        return 1\n    self.fail('no')"),
    ("its own error function", "def f(a):\n    if a:\n        return 1\n    _cmperror(a)"),
    ("inside with", "def f(a):\n    with a:\n        return 1"),
    ("loops forever", "def f(q):\n    while True:\n        if q.get():\n            return 1"),
    ("None is said", "def f(a):\n    if a:\n        return None"),
    ("nested functions count for themselves", "def f():\n    def g():\n        return 1\n    g()"),
]
FINALLY = [
    ("return", "def f():\n    try:\n        g()\n    finally:\n        return 1  #! return in finally"),
    ("break", "for x in y:\n    try:\n        g()\n    finally:\n        break  #! return in finally"),
    ("a break of its own loop", "try:\n    g()\nfinally:\n    for x in y:\n        break"),
    ("a function's own return", "try:\n    g()\nfinally:\n    def h():\n        return 1\n    h()"),
]
ENDLESS = [
    (
        "a counter forgotten",
        "def f(n):\n    i = 0\n    while i < n:  #! loop that cannot end\n        print(i)",
    ),
    (
        "the wrong one counted",
        """
        def f(xs):
            i = j = 0
            while i < len_xs(xs) and j < 3:
                j += 1
            while i < 10:  #! loop that cannot end
                j += 1
            return i + j
    """,
    ),
    ("at the top", "n = 3\nwhile n > 0:  #! loop that cannot end\n    print('x')"),
    (
        "a flag never cleared",
        "def f():\n    go = True\n    while go:  #! loop that cannot end\n        work()",
    ),
    ("popped by another name", "def f(stack):\n    pop = stack.pop\n    while stack:\n        pop()"),
    ("who knows what it is", "def f(queue):\n    while queue:\n        work()"),
    ("counted", "def f(n):\n    while n > 0:\n        n -= 1"),
    ("popped", "def f(q):\n    while q:\n        q.pop()"),
    ("passed on", "def f(q):\n    while q:\n        take(q)"),
    ("unpacked", "def f(a, b):\n    while b:\n        a, b = b, a % b"),
    ("bound by a walrus", "def f(n):\n    while n > 0:\n        if (n := g()): h()"),
    ("an attribute may change elsewhere", "def f(self):\n    while self.running:\n        work()"),
    ("leaves by return", "def f(n):\n    while n > 0:\n        if g(): return 1"),
    (
        "leaves by break in try",
        "def f(n):\n    while n > 0:\n        try:\n            g()\n        except E:\n            break",
    ),
    (
        "an exception is the way out",
        "def f(n):\n    try:\n        while n > 0:\n            g()\n    except E:\n        pass",
    ),
    ("global elsewhere", "n = 3\ndef g():\n    global n\n    n -= 1\nwhile n > 0:\n    g()"),
    (
        "nonlocal",
        "def f():\n"
        "    n = 3\n"
        "    def g():\n"
        "        nonlocal n\n"
        "        n -= 1\n"
        "    while n > 0:\n"
        "        g()",
    ),
    ("a global may change anywhere", "def f():\n    while RUNNING:\n        g()"),
    ("a generator's caller may stop", "def f(n):\n    while n:\n        yield n"),
    ("meant", "while True:\n    serve()"),
    ("deleted items", "def f(q):\n    while q:\n        del q[0]"),
]


class Flow(Checks):
    def test_unreachable(self):
        self.hold(UNREACHABLE)

    def test_missing_return(self):
        self.hold(MISSING)

    def test_finally(self):
        self.hold(FINALLY)

    def test_endless(self):
        self.hold(ENDLESS)
