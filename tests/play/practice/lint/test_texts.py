from tests.play.practice.lint.table import Checks

NO_PLACES = [
    ("plain", "print(f'hello')  #! f-string without placeholders"),
    ("a placeholder", "print(f'hello {name}')"),
    ("joined with one", "print(f'hello '\n      f'{name}')"),
    ("a format spec", "print(f'{x:>10} {y:{w}}')"),
    ("doubled braces need it", "print(f'{{}}')"),
]
FORGOTTEN = [
    ("print", "def f(name):\n    print('hello {name}')  #! forgotten f"),
    ("an exception", "def f(n):\n    raise ValueError('bad {n!r}')  #! forgotten f"),
    ("an f-string", "def f(name):\n    print(f'hello {name}')"),
    ("a template", "def f(name):\n    text = 'hello {name}'\n    print(text.format(name=name))"),
    ("not a name here", "def f(a):\n    print('{name}')"),
    ("JSON", "def f(a):\n    print('{\"a\": {a}}')"),
]
PERCENT = [
    ("one for two", "s = '%d %s' % (1,)  #! format mismatch"),
    ("a bare value for two", "def f(n: int):\n    return '%d %s' % n  #! format mismatch"),
    ("a difference is one value", "s = '%d of %s' % (a - b)  #! format mismatch"),
    ("too many", "s = '%s' % (a, b)  #! format mismatch"),
    ("a missing key", "s = '%(a)s %(b)s' % {'a': 1}  #! format mismatch"),
    ("fits", "s = '%d %s %%' % (a, b)\nt = '%s' % a\nu = '%*d' % (3, a)\nv = '%(a)s' % {'a': 1, 'b': 2}"),
    ("it may be a tuple", "def f(pair):\n    return '%s %s' % pair"),
    ("spread", "s = '%s %s' % (*xs,)"),
    ("a remainder", "n = 7 % 2"),
    ("bytes and names", "s = fmt % (a, b)"),
]
LOGS = [
    ("too few", "log.info('%s took %d', a)  #! log message mismatch"),
    ("too many", "logging.getLogger('x')\nself.logger.warning('done', a)  #! log message mismatch"),
    (
        "fits",
        "log.info('%s took %d', a, b)\n"
        "log.info('done')\n"
        "logger.error('%(a)s', {'a': 1})\n"
        "log.debug('%s', *xs)",
    ),
    ("braces", "logger.info('{} done', a)"),
    ("not a log", "self.error('done', a)\nmath.log(a, b)"),
]
FORMAT = [
    ("too few", "s = '{} {}'.format(a)  #! format mismatch"),
    ("too many", "s = '{}'.format(a, b)  #! format mismatch"),
    ("by number", "s = '{0} {2}'.format(a, b)  #! format mismatch"),
    ("a missing name", "s = '{a} {b}'.format(a=1)  #! format mismatch"),
    ("fits", "s = '{} {:{w}} {a.b[0]} {{}}'.format(1, 2, w=3, a=4)\nt = '{0} {0}'.format(a)"),
    ("spread", "s = '{} {}'.format(*xs)\nt = '{a}'.format(**d)"),
    ("a broken template is left alone", "s = '{'.format(a)"),
]
WASTED = [
    ("strip", "def f(s):\n    s.strip()  #! result thrown away\n    return s"),
    ("replace", "s.replace('a', 'b')  #! result thrown away"),
    ("sorted", "sorted(xs)  #! result thrown away"),
    ("kept", "s = s.strip()\nprint(s.replace('a', 'b'))"),
    ("tried", "with self.assertRaises(E):\n    sorted(xs)\ntry:\n    s.strip()\nexcept E:\n    g()"),
    ("a file moved", "path.replace(target)"),
    ("a window", "import tkinter\ntop = tkinter.Tk()\ntop.lower()"),
]


class Texts(Checks):
    def test_no_placeholders(self):
        self.hold(NO_PLACES)

    def test_forgotten_f(self):
        self.hold(FORGOTTEN)

    def test_percent(self):
        self.hold(PERCENT)

    def test_log_messages(self):
        self.hold(LOGS)

    def test_format(self):
        self.hold(FORMAT)

    def test_thrown_away(self):
        self.hold(WASTED)
