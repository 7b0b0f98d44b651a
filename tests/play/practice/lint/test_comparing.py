from tests.play.practice.lint.table import Checks

NONE = [
    ("either side", "if x == None: y()  #! comparison with None\nif None != x: y()  #! comparison with None"),
    ("in a chain", "if a < b == None: y()  #! comparison with None"),
    ("is", "if x is None or x is not None: y()"),
    ("a query builds an expression", "rows = session.query(User).filter(User.age == None).all()"),
    ("a mask", "rows = table[table.age == None]"),
]
LITERAL = [
    ("text", "if name is 'bob': y()  #! identity with a literal"),
    ("number", "if -1 is not n: y()  #! identity with a literal"),
    ("a fresh list", "if xs is []: y()  #! identity with a literal"),
    ("an f-string", "if s is f'{a}': y()  #! identity with a literal"),
    ("singletons", "if a is None or b is True or c is ... or d is not False: y()"),
    ("the empty tuple is one object", "if args is (): y()"),
]
ITSELF = [
    ("attribute", "if self.a == self.a: y()  #! comparison with itself"),
    ("item", "ok = grid[i][j] >= grid[i][j]  #! comparison with itself"),
    ("calls may differ", "if next(it) == next(it): y()"),
    ("NaN", "def f(x):\n    return x != x"),
    ("NaN by name", "def is_nan(value):\n    return not value == value"),
    ("NaN by comment", "ok = v.real == v.real  # false for nan"),
    ("a test of __eq__", "def test_eq(self):\n    assert self.a == self.a"),
    ("different items", "if grid[i] == grid[j]: y()"),
]
TRUE = [
    ("or a word", "if x == 'a' or 'b': y()  #! condition always true"),
    ("in a while, negated", "while not (x == 1 or 2): y()  #! condition always true"),
    ("in a comprehension", "z = [c for c in s if c == 'a' or 'b']  #! condition always true"),
    ("both compared", "if x == 'a' or x == 'b': y()"),
    ("a default value", "label = x == 'a' or 'other'"),
    ("an empty constant is false", "if x == 'a' or '': y()"),
]
TUPLE = [
    ("parenthesised", "assert (x > 0, 'negative')  #! assert on a tuple"),
    ("message outside", "assert (x > 0), 'negative'"),
]
KEYS = [
    ("text", "d = {'a': 1, 'b': 2,\n     'a': 3}  #! duplicate key"),
    ("equal numbers", "d = {1: 'a', True: 'b'}  #! duplicate key"),
    ("names may differ", "d = {a: 1, b: 2, a: 3}"),
    ("text and bytes differ", "d = {'a': 1, b'a': 2, **{'a': 3}}"),
    ("in a set", "s = {'a', 'b', 'a'}  #! duplicate element"),
]
BRANCHES = [
    ("asked twice", "if x == 1: a()\nelif x == 2: b()\nelif x == 1: c()  #! duplicate condition"),
    ("a call may answer anew", "if go(): a()\nelif go(): b()"),
    ("separate ifs", "if x == 1: a()\nif x == 1: b()"),
]


class Comparing(Checks):
    def test_none(self):
        self.hold(NONE)

    def test_identity_with_a_literal(self):
        self.hold(LITERAL)

    def test_itself(self):
        self.hold(ITSELF)

    def test_always_true(self):
        self.hold(TRUE)

    def test_assert_on_a_tuple(self):
        self.hold(TUPLE)

    def test_keys_and_elements(self):
        self.hold(KEYS)

    def test_branches(self):
        self.hold(BRANCHES)
