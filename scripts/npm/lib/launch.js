// Starts the application with a Python that can run it: finds one from 3.11 on, hands it the terminal, our signals
// and the arguments, and ends as it ends.
"use strict";

const { spawn, spawnSync } = require("node:child_process");
const path = require("node:path");

const FOLDER = path.join(__dirname, "..", "benchwarmers");
const OLDEST = [3, 11];
const NEWEST_MINOR = 20; // python3.20 is looked for by name; newer ones answer to python3
const TELL = "import sys; print('%d.%d' % sys.version_info[:2])";
// The folder goes on sys.path, the user's current folder does not (-P).
const RUN =
  "import runpy, sys; folder, program = sys.argv[1:3]; del sys.argv[1:3]; " +
  "runpy.run_path(folder, {'PROGRAM': program}, '__main__')";
const FORWARDED = ["SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2", "SIGBREAK"];

// The commands that may start a Python, the likeliest first.
function candidates(platform, env) {
  if (env.BENCHWARMERS_PYTHON) return [[env.BENCHWARMERS_PYTHON]];
  if (platform === "win32") return [["py", "-3"], ["python"], ["python3"]];
  const named = [];
  for (let minor = NEWEST_MINOR; minor >= OLDEST[1]; minor--) named.push([`python3.${minor}`]);
  return [["python3"], ["python"], ...named];
}

// [major, minor] of the Python behind a command; null where there is none (on Windows `python` may be a shop window).
function version(words) {
  const asked = spawnSync(words[0], [...words.slice(1), "-I", "-c", TELL], {
    encoding: "utf8",
    timeout: 20000,
    windowsHide: true,
  });
  const found = /^(\d+)\.(\d+)\s*$/.exec(asked.stdout || "");
  return asked.status === 0 && found ? [Number(found[1]), Number(found[2])] : null;
}

function newEnough([major, minor]) {
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

// {words} of the first that will do, else {seen: ["python3 is 3.9"]}.
function find(platform, env, ask = version) {
  const seen = [];
  for (const words of candidates(platform, env)) {
    const found = ask(words);
    if (found && newEnough(found)) return { words, seen };
    if (found) seen.push(`${words.join(" ")} is ${found.join(".")}`);
  }
  return { words: null, seen };
}

function absent(env, seen) {
  const found = seen.length ? ` (${seen.join(", ")})` : "";
  if (env.BENCHWARMERS_PYTHON) {
    return `BENCHWARMERS_PYTHON=${env.BENCHWARMERS_PYTHON} is no Python 3.11 or newer${found}: name one, or unset it.\n`;
  }
  return (
    `Benchwarmers needs Python 3.11 or newer, and none was found${found}.\n` +
    "Install one (python.org, or your system's packages), or name one in BENCHWARMERS_PYTHON.\n"
  );
}

function launch(program) {
  const { words, seen } = find(process.platform, process.env);
  if (!words) {
    process.stderr.write(absent(process.env, seen));
    process.exitCode = 1;
    return;
  }
  const line = [...words.slice(1), "-P", "-c", RUN, FOLDER, program, ...process.argv.slice(2)];
  const child = spawn(words[0], line, { stdio: "inherit" });
  follow(child, words);
}

// Passes signals on to `child` and ends as it does. A terminal sends Ctrl-C to both by itself; a second one, passed on
// by us, would mean "at once".
function follow(child, words) {
  const shared = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  const pass = (name) => child.kill(name);
  const handlers = { SIGINT: shared || process.platform === "win32" ? () => {} : pass };
  for (const name of FORWARDED) handlers[name] = pass;
  for (const [name, handler] of Object.entries(handlers)) {
    try {
      process.on(name, handler);
    } catch {
      delete handlers[name]; // not a signal of this system
    }
  }
  child.on("error", (trouble) => {
    process.stderr.write(`${words.join(" ")} cannot be started: ${trouble.message}\n`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    for (const [name, handler] of Object.entries(handlers)) process.off(name, handler);
    if (signal) process.kill(process.pid, signal);
    else process.exitCode = code;
  });
}

module.exports = { absent, candidates, find, launch };
