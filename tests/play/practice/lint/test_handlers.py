from tests.play.practice.lint.table import Checks

BARE = [
    ("hides", "try:\n    g()\nexcept:  #! bare except\n    h()"),
    ("hides and does nothing", "try:\n    g()\nexcept:  #! bare except\n    pass"),
    ("cleans up and raises again", "try:\n    g()\nexcept:\n    h()\n    raise"),
    ("names one", "try:\n    g()\nexcept OSError:\n    h()"),
]
SWALLOWED = [
    ("pass", "try:\n    g()\nexcept Exception:  #! swallowed exception\n    pass"),
    (
        "continue",
        "for x in y:\n"
        "    try:\n"
        "        g()\n"
        "    except (ValueError, BaseException):  #! swallowed exception\n"
        "        continue",
    ),
    ("an expected one", "try:\n    g()\nexcept KeyError:\n    pass"),
    ("logged", "try:\n    g()\nexcept Exception:\n    log.exception('x')"),
    (
        "a destructor must not raise",
        "class A:\n"
        "    def __del__(self):\n"
        "        try:\n"
        "            g()\n"
        "        except Exception:\n"
        "            pass",
    ),
]
OR = [
    ("or", "try:\n    g()\nexcept ValueError or KeyError:  #! or in except\n    h()"),
    ("a tuple", "try:\n    g()\nexcept (ValueError, KeyError):\n    h()"),
]
ORDER = [
    (
        "wide first",
        "try:\n    g()\nexcept Exception:\n    h()\nexcept ValueError:  #! handler never reached\n    k()",
    ),
    (
        "a tuple of narrower ones",
        "try:\n"
        "    g()\n"
        "except OSError:\n"
        "    h()\n"
        "except (FileNotFoundError, PermissionError):  #! handler never reached\n"
        "    k()",
    ),
    ("narrow first", "try:\n    g()\nexcept ValueError:\n    h()\nexcept Exception:\n    k()"),
    (
        "one of the tuple is not covered",
        "try:\n    g()\nexcept OSError:\n    h()\nexcept (FileNotFoundError, KeyError):\n    k()",
    ),
    ("own classes are unknown", "try:\n    g()\nexcept Base:\n    h()\nexcept Derived:\n    k()"),
    (
        "the name was taken",
        "class ValueError(Exception):\n"
        "    pass\n"
        "try:\n"
        "    g()\n"
        "except Exception:\n"
        "    h()\n"
        "except ValueError:\n"
        "    k()",
    ),
]
RAISE = [
    ("NotImplemented", "def f():\n    raise NotImplemented  #! raise of no exception"),
    ("NotImplemented called", "def f():\n    raise NotImplemented('x')  #! raise of no exception"),
    ("text", "raise 'broken'  #! raise of no exception"),
    ("exceptions", "def f(e):\n    if e:\n        raise NotImplementedError\n    raise e"),
]


class Handlers(Checks):
    def test_bare(self):
        self.hold(BARE)

    def test_swallowed(self):
        self.hold(SWALLOWED)

    def test_or(self):
        self.hold(OR)

    def test_order(self):
        self.hold(ORDER)

    def test_raise(self):
        self.hold(RAISE)
