from tests.play.practice.lint.table import Checks

CLOSURES = [
    ("appended", "for i in y:\n    fs.append(lambda: i)  #! late-binding closure"),
    ("kept under a key", "for name, f in y:\n    table[name] = lambda x: f(x)  #! late-binding closure"),
    ("in a list comprehension", "fs = [lambda x: x + i for i in range(3)]  #! late-binding closure"),
    ("in a dict comprehension", "fs = {k: (lambda: k) for k in y}  #! late-binding closure"),
    ("a callback", "for i in y:\n    Button(root, command=lambda: go(i))  #! late-binding closure"),
    (
        "a function kept",
        "for i in y:\n    def g():  #! late-binding closure\n        return i + 1\n    fs.append(g)",
    ),
    ("bound by a default", "for i in y:\n    fs.append(lambda i=i: i)"),
    ("its own argument", "for i in y:\n    fs.append(lambda i: i)"),
    ("used at once", "for n in y:\n    best = min(xs, key=lambda x: abs(x - n))\n    use(best)"),
    ("filtered at once", "for n in y:\n    z += list(filter(lambda x: x > n, xs))"),
    ("not the loop's name", "def f(k):\n    for i in y:\n        fs.append(lambda: k)"),
    ("leaves with it", "for i in y:\n    if i:\n        fs.append(lambda: i)\n        break"),
    (
        "made in a function of its own",
        "for i in y:\n    def make(i):\n        fs.append(lambda: i)\n    make(i)",
    ),
    ("a loop inside the lambda", "fs.append(lambda: [i for i in y])"),
    ("called in the same turn", "for i in y:\n    def g():\n        return i\n    print(g())"),
]
CHANGED = [
    ("remove", "for x in xs:\n    if x:\n        xs.remove(x)  #! changed while iterating"),
    ("del of a dict's key", "for k in d:\n    if k:\n        del d[k]  #! changed while iterating"),
    ("items", "for k, v in self.d.items():\n    self.d.pop(k)  #! changed while iterating"),
    ("enumerate", "for i, x in enumerate(xs):\n    xs.pop(i)  #! changed while iterating"),
    ("grows for ever", "for x in xs:\n    xs.append(x)  #! changed while iterating"),
    (
        "a copy",
        "for x in list(xs):\n"
        "    xs.remove(x)\n"
        "for x in xs[:]:\n"
        "    xs.remove(x)\n"
        "for k in sorted(d):\n"
        "    del d[k]",
    ),
    ("leaves at once", "for x in xs:\n    if x:\n        xs.remove(x)\n        break"),
    (
        "leaves a little later",
        "def f(xs):\n"
        "    for x in xs:\n"
        "        if x:\n"
        "            xs.remove(x)\n"
        "            log(x)\n"
        "            return x",
    ),
    ("another list", "for x in xs:\n    ys.remove(x)"),
    ("a queue worked off", "for x in queue:\n    if x.more:\n        queue.append(x.more)"),
    ("an item set, not added", "for k in d:\n    d[k] = 1"),
    ("rebound first", "for x in xs:\n    xs = rest(xs)\n    xs.remove(x)"),
    ("later, in a function", "for x in xs:\n    def undo():\n        xs.remove(x)\n    undo()"),
]
END = [
    ("one turn too many", "for i in range(len(xs) + 1):\n    print(xs[i])  #! index past the end"),
    (
        "with a start",
        "def f(self):\n"
        "    for i in range(1, len(self.a) + 1):\n"
        "        self.a[i].go()  #! index past the end",
    ),
    ("the length as index", "last = xs[len(xs)]  #! index past the end"),
    ("shifted back", "for i in range(len(xs) + 1):\n    print(xs[i - 1])"),
    ("guarded", "for i in range(len(xs) + 1):\n    if i < len(xs):\n        print(xs[i])"),
    ("another list", "for i in range(len(xs) + 1):\n    print(ys[i])"),
    ("a slice", "for i in range(len(xs) + 1):\n    print(xs[:i])\nd[len(d)] = 1"),
]


class Loops(Checks):
    def test_closures(self):
        self.hold(CLOSURES)

    def test_changed_while_iterating(self):
        self.hold(CHANGED)

    def test_past_the_end(self):
        self.hold(END)
