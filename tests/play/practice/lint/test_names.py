from tests.play.practice.lint.table import Checks

LOCALS = [
    ("never read", "def f(a):\n    b = a + 1  #! unused local\n    return a"),
    ("annotated", "def f(a):\n    b: int = a  #! unused local\n    return a"),
    ("a typing mistake", "def f(xs):\n    total = 0  #! unused local\n    totl = sum(xs)\n    return totl"),
    ("read in a closure", "def f(a):\n    b = a\n    return lambda: b"),
    ("read in a comprehension", "def f(xs):\n    k = 2\n    return [x * k for x in xs]"),
    ("unpacked", "def f(p):\n    x, y = p\n    return x"),
    ("a loop's target", "def f(n):\n    for i in n:\n        g()"),
    ("underscore", "def f(a):\n    _ = g(a)\n    _b = g(a)"),
    ("locals()", "def f(a):\n    b = 1\n    return '{b}'.format(**locals())"),
    ("global", "def f(a):\n    global b\n    b = a"),
    ("counted with +=", "def f(xs):\n    n = 0\n    for x in xs:\n        n += 1"),
    ("nonlocal inside", "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n = 1\n    return g"),
    ("named in a query", "def f(df):\n    low = 3\n    return df.query('a > @low')"),
    ("a class body is not local", "class A:\n    b = 1"),
    ("an exception", "def f():\n    try:\n        g()\n    except E as e:\n        h()"),
    ("only declared", "def f(a):\n    b: int\n    return a"),
]
IMPORTS = [
    ("never used", "import os  #! unused import\nimport sys\nprint(sys.path)"),
    ("one of two", "from a import b, c  #! unused import\nb()"),
    ("inside a function", "def f():\n    import os  #! unused import\n    return 1"),
    ("used in an annotation", "from a import B\ndef f(x: B):\n    return x"),
    ("used in a quoted annotation", "from a import B\ndef f(x: 'list[B]'):\n    return x"),
    ("exported", "from a import b\n__all__ = ['b']\nx = 1"),
    ("re-exported by spelling", "from a import b as b\nx = 1"),
    ("a try whether it is there", "try:\n    import yaml\nexcept ImportError:\n    yaml = None"),
    ("for its effect", "import readline\nx = input()"),
    ("the future", "from __future__ import annotations\nx = 1"),
    ("two bindings of one name", "import os\nimport os.path\nprint(os.path.sep)"),
    ("star", "from a import *\nx = 1"),
    ("a module of imports hands on", "'''Names.'''\nfrom .a import b\nfrom .c import d"),
    ("marked", "import os  # noqa: F401\nx = 1"),
    ("a type comment", "from a import B\ndef f(x):\n    # type: (B) -> int\n    return 1"),
]
BUILTINS = [
    ("a local", "def f(y):\n    list = [y]  #! shadowed builtin\n    return list"),
    ("an argument", "def f(str):  #! shadowed builtin\n    return str"),
    ("a loop's target", "for max in y:  #! shadowed builtin\n    print(max)"),
    (
        "an everyday name, then called",
        "def f(y):\n"
        "    type = y\n"
        "    return type\n"
        "def g(y):\n"
        "    id = 3  #! shadowed builtin\n"
        "    return id(y)",
    ),
    ("an attribute", "class A:\n    list = 1\n    def max(self):\n        return 1\nself.sum = 2"),
    (
        "everyday names",
        "def f(id, type, input, format):\n    filter = id\n    return type, input, format, filter",
    ),
    (
        "for older Pythons",
        "try:\n    range = xrange\nexcept NameError:\n    pass\nif PY2:\n    str = unicode",
    ),
    ("a module's own open", "def open(path):\n    return path"),
    ("imported on purpose", "from codecs import open\nprint(open)"),
]
TWICE = [
    ("a function", "def f():\n    return 1\ndef f():  #! duplicate definition\n    return 2"),
    (
        "a method",
        "class A:\n"
        "    def f(self):\n"
        "        return 1\n"
        "    def f(self):  #! duplicate definition\n"
        "        return 2",
    ),
    (
        "a property and its setter",
        "class A:\n"
        "    @property\n"
        "    def x(self):\n"
        "        return 1\n"
        "    @x.setter\n"
        "    def x(self, v):\n"
        "        self.v = v",
    ),
    (
        "overloads",
        "@overload\ndef f(a: int) -> int: ...\n@overload\ndef f(a: str) -> str: ...\ndef f(a):\n    return a",
    ),
    ("registered", "@g.register\ndef _(a):\n    return 1\n@g.register\ndef _(b):\n    return 2"),
    ("used between", "def f():\n    return 1\nhooks.append(f)\ndef f():\n    return 2"),
    ("a choice", "if x:\n    def f():\n        return 1\nelse:\n    def f():\n        return 2"),
]
UNDEFINED = [
    ("a typing mistake", "def total(values):\n    return sum(valeus)  #! undefined name"),
    ("a forgotten import", "print(os.getcwd())  #! undefined name"),
    ("bound anywhere counts", "def f():\n    return LIMIT\nif f:\n    LIMIT = 3"),
    ("star imports hide", "from a import *\nprint(b)"),
    ("built in", "print(__file__, len, ValueError, __name__)"),
    (
        "asked for",
        "try:\n"
        "    unicode_\n"
        "except NameError:\n"
        "    unicode_ = str\n"
        "try:\n"
        "    text = basestr\n"
        "except NameError:\n"
        "    text = str",
    ),
    ("an excerpt under a file's name", "a = b + c * d / e - f + g"),
    ("an annotation", "def f(x: Later):\n    y: Other = x\n    return y"),
    (
        "match captures",
        "match x:  #! undefined name\n"
        "    case {'a': a, **rest}:\n"
        "        print(a, rest)\n"
        "    case [b, *c]:\n"
        "        print(b, c)",
    ),
    (
        "walrus, comprehension, except, with, lambda",
        """
        print([n for n in (m := [1])], m)
        try:
            pass
        except OSError as error:
            print(error)
        with open('a', encoding='utf-8') as file:
            print(file, (lambda q, *r, **s: (q, r, s)))
     """,
    ),
]


class Names(Checks):
    def test_unused_locals(self):
        self.hold(LOCALS)

    def test_unused_imports(self):
        self.hold(IMPORTS)

    def test_shadowed_builtins(self):
        self.hold(BUILTINS)

    def test_defined_twice(self):
        self.hold(TWICE)

    def test_undefined_in_a_named_file(self):
        self.hold(UNDEFINED, named=True)

    def test_a_snippet_leaves_things_out(self):
        self.hold([("not named", "print(os.getcwd())")])
