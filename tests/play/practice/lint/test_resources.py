from tests.play.practice.lint.table import Checks

FILES = [
    ("read at once", "text = open(p).read()  #! file opened without with"),
    ("handed to json", "import json\nd = json.load(open(p))  #! file opened without with"),
    ("looped over", "for line in open(p):  #! file opened without with\n    print(line)"),
    ("never closed", "def f(p):\n    file = open(p)  #! file opened without with\n    return file.read()"),
    (
        "closed if nothing raises",
        "def f(p):\n"
        "    file = open(p)  #! file opened without with\n"
        "    text = file.read()\n"
        "    file.close()\n"
        "    return text",
    ),
    ("gzip by its own name", "from gzip import open as gz\ntext = gz(p).read()  #! file opened without with"),
    ("with", "with open(p) as file:\n    text = file.read()"),
    (
        "closed for certain",
        "def f(p):\n"
        "    file = open(p)\n"
        "    try:\n"
        "        return file.read()\n"
        "    finally:\n"
        "        file.close()",
    ),
    ("given away", "def f(p):\n    return open(p)\ndef g(p):\n    file = open(p)\n    return file"),
    ("kept", "class A:\n    def __init__(self, p):\n        self.file = open(p)"),
    ("for a stack", "file = stack.enter_context(open(p))\nwith closing(open(p)) as f:\n    g(f)"),
    ("for a process", "run(['ls'], stdout=open(p))"),
    ("handed to a stranger", "def f(p):\n    file = open(p)\n    start(file)"),
    ("another open", "def open(p):\n    return p\ntext = open(p).read()"),
    ("a global log", "log = open(p, 'a')\ndef say(x):\n    log.write(x)"),
    ("one or the other", "file = open(p) if p else sys.stdin"),
]
LOCKS = [
    (
        "never released",
        "import threading\n"
        "lock = threading.Lock()\n"
        "def f():\n"
        "    lock.acquire()  #! lock not released\n"
        "    g()",
    ),
    (
        "not if it raises",
        "def f(self):\n    self.lock.acquire()  #! lock not released\n    g()\n    self.lock.release()",
    ),
    (
        "finally",
        "def f(lock):\n    lock.acquire()\n    try:\n        g()\n    finally:\n        lock.release()",
    ),
    ("with", "def f(lock):\n    with lock:\n        g()"),
    (
        "nothing between can raise",
        "def f(self):\n    self.lock.acquire()\n    self.n = 1\n    self.lock.release()",
    ),
    (
        "released by another method",
        "class A:\n"
        "    def start(self):\n"
        "        self.lock.acquire()\n"
        "    def stop(self):\n"
        "        self.lock.release()",
    ),
    ("a wrapper", "class A:\n    def __enter__(self):\n        self.lock.acquire()\n        return self"),
    ("somebody else's", "def f(self):\n    self.thread.done.acquire()"),
    ("tried", "if lock.acquire(timeout=1):\n    g()"),
]
CLOCKS = [
    (
        "time.time",
        "import time\n"
        "def f():\n"
        "    start = time.time()\n"
        "    g()\n"
        "    return time.time() - start  #! wall clock for a duration",
    ),
    (
        "imported by name",
        "from time import time\nt = time()\ng()\nprint(time() - t)  #! wall clock for a duration",
    ),
    (
        "datetime",
        "from datetime import datetime\n"
        "a = datetime.now()\n"
        "b = datetime.now()\n"
        "print(b - a)  #! wall clock for a duration",
    ),
    ("monotonic", "import time\nstart = time.monotonic()\nprint(time.monotonic() - start)"),
    ("a file's age", "import os, time\nage = time.time() - os.path.getmtime(p)"),
    ("something stored", "import time\ndef f(row):\n    return time.time() - row.created"),
    ("a moment in the past", "import time\nsince = time.time() - 3600"),
    (
        "sometimes something else",
        "import time\nstart = time.time()\nstart = row.start\nprint(time.time() - start)",
    ),
]


class Resources(Checks):
    def test_files(self):
        self.hold(FILES)

    def test_locks(self):
        self.hold(LOCKS)

    def test_clocks(self):
        self.hold(CLOCKS)
