from tests.play.practice.lint.table import Checks

SHELL = [
    ("f-string", "import subprocess\nsubprocess.run(f'rm {p}', shell=True)  #! shell command from text"),
    (
        "by a short name",
        "import subprocess as sp\nsp.call('rm ' + p, shell=True)  #! shell command from text",
    ),
    (
        "through a name",
        "import os\ndef f(p):\n    cmd = 'rm %s' % p\n    os.system(cmd)  #! shell command from text",
    ),
    ("format", "import os\nos.popen('cat {}'.format(p))  #! shell command from text"),
    (
        "constant",
        "import subprocess\nsubprocess.run('ls | wc', shell=True)\nsubprocess.run('a' 'b', shell=True)",
    ),
    ("a list", "import subprocess\nsubprocess.run(['rm', f'{p}'])"),
    ("quoted", "import shlex, subprocess\nsubprocess.run(f'rm {shlex.quote(p)}', shell=True)"),
    ("no shell", "import subprocess\nsubprocess.run(f'rm {p}', shell=False)"),
    ("this Python", "import os, sys\nos.system(f'{sys.executable} -V')"),
]
SQL = [
    ("f-string", "db.execute(f'select * from users where name = {name}')  #! query from text"),
    ("percent", "db.execute('DELETE FROM t WHERE id = %s' % key)  #! query from text"),
    (
        "through a name",
        "def f(db, key):\n    q = 'update t set a = ' + key\n    db.execute(q)  #! query from text",
    ),
    ("parameters", "db.execute('select * from t where a = ?', (a,))"),
    ("a constant table", "db.execute(f'select * from {TABLE}')"),
    ("placeholders counted", "db.execute('select * from t where a in (%s)' % ','.join('?' * n), xs)"),
    ("not SQL", "pool.execute(f'job {n}')"),
]
EVAL = [
    ("input", "x = eval(input())  #! eval of input"),
    ("through a name", "text = input('> ')\nexec(text)  #! eval of input"),
    ("an argument", "def calc(expression):\n    return eval(expression)  #! eval of input"),
    ("a constant", "x = eval('1 + 1')"),
    ("literal_eval", "import ast\nx = ast.literal_eval(input())"),
    ("a model", "model.eval()\nx = df.eval(text)"),
    ("a compiled file", "exec(compile(file.read(), path, 'exec'))"),
    ("its own eval", "def eval(x):\n    return x\ny = eval(input())"),
]
LOADING = [
    ("yaml.load", "import yaml\nd = yaml.load(text)  #! unsafe loading"),
    ("a full loader", "import yaml\nd = yaml.load(text, Loader=yaml.Loader)  #! unsafe loading"),
    ("pickle off the wire", "import pickle\nd = pickle.loads(sock.recv(4096))  #! unsafe loading"),
    ("safe", "import yaml\nd = yaml.safe_load(text)\ne = yaml.load(text, Loader=yaml.SafeLoader)"),
    ("a file of one's own", "import pickle\nwith open(p, 'rb') as f:\n    d = pickle.load(f)"),
    ("another load", "import toml\nd = toml.load(text)"),
]


class Safety(Checks):
    def test_shell(self):
        self.hold(SHELL)

    def test_sql(self):
        self.hold(SQL)

    def test_eval(self):
        self.hold(EVAL)

    def test_loading(self):
        self.hold(LOADING)
