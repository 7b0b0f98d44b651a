"""What `bench help` knows beside the commands themselves: the overview and the topics.

The overview is made from the table of commands, so a new command shows up in it by existing.
"""

from collections.abc import Mapping

from metrics.commands.command import GLOBAL_OPTIONS, Command, did_you_mean
from metrics.commands.failure import Failure, usage
from metrics.commands.serve import MAINS

TOPICS = {
    "environment": """\
Variables that bench reads. An option on the line wins over a variable.

  BENCHWARMERS_URL          where the server is (http://127.0.0.1:8122)
  BENCHWARMERS_KEY          the key for asking and judging, where the server wants one
  BENCHWARMERS_ADMIN_TOKEN  the token for everything else, where the server wants one (or: bench login)
  BENCHWARMERS_TIMEOUT      seconds to wait for an answer (900)
  BENCHWARMERS_HOME         the data folder that init makes and serve uses
  NO_COLOR, FORCE_COLOR     never colour, always colour
""",
    "exit-codes": """\
Exit codes of bench.

    0  done
    1  refused: the server or a provider said no, or no seat answered
    2  the command line is wrong
    3  no server answers there; the message names the command that starts one
    4  not authorised: a key or token is missing or wrong
    5  partial: some seats gave no whole answer (only with ask --strict)
  130  stopped by Ctrl-C (a panel goes on in the server)
  141  the reader of the output went away
""",
    "formatting": """\
What goes where.

  stdout  what was asked for: answers, tables, or with --json one JSON document
  stderr  everything about it: progress, call ids, notes, errors; -q leaves all but errors out

Colour, redrawing and cut or left-out columns are for terminals only. A pipe gets every column whole, times in
ISO form and no escape sequences. A cost that is not known is "unknown", never $0.

  --json           one JSON document, as the server answered it; failures too:
                   {"error": {"kind": "...", "message": "...", "hint": "..."}}
  --json --stream  with ask: one JSON event a line, as they come
""",
    "agents": """\
For programs that call bench.

  Give --json: stdout is then exactly one JSON document, success or failure, and the exit code says which.
  Nothing is ever asked when stdin or stderr is no terminal; keys come from --key-stdin or --key-env.
  A pipe on stdin is part of the question; give < /dev/null when nothing is to come.

  bench ask core --json -f app.py "Find the bugs"        the answers are in .bench.seats[].answer
  bench verdict CALL --useful --json                     CALL is in .bench.seats[].call
  bench log --limit 5 --json                             what was asked, with verdicts
  bench status --json                                    what there is, and what could be added

  Any OpenAI client works too: base URL http://127.0.0.1:8122/v1, model bench/core.
  Coding agents: bench launch claude, codex, opencode, pi, gemini, qwen, cline or aider; with --check first.
""",
}


def overview(program: str, commands: Mapping[str, Command]) -> str:
    """Every command with its summary's first sentence, and the topics."""
    rows = [(name, command.summary) for name, command in commands.items()]
    rows = [*((word, f"{what[0].upper()}{what[1:]}.") for word, what in MAINS.items()), *rows]
    rows += [("help", "Explains a command or a topic."), ("version", "Prints the version.")]
    return (
        f"usage: {program} COMMAND [ARGUMENTS] [--json] [--url URL]\n\n"
        "Ask a bench of models side by side, judge their answers, keep the record.\n\n"
        f"examples:\n  {program} serve\n"
        f'  {program} ask core "What is wrong with this?" -f app.py\n'
        f"  {program} verdict CALL --useful\n\n"
        f"commands:\n{columns(rows)}\n"
        f"{GLOBAL_OPTIONS}\n"
        f"topics: {', '.join(TOPICS)}\n"
        f"more: {program} help COMMAND, {program} help TOPIC\n"
    )


def group(program: str, word: str, commands: Mapping[str, Command]) -> str:
    """The commands that begin with `word` ("endpoint")."""
    rows = [(name, command.summary) for name, command in commands.items() if name.startswith(f"{word} ")]
    return f"usage: {program} {word} COMMAND\n\n{columns(rows)}\nmore: {program} help {rows[0][0]}\n"


def columns(rows: list[tuple[str, str]]) -> str:
    wide = max(len(name) for name, _ in rows)
    return "".join(f"  {name:<{wide}}  {first_sentence(what)}\n" for name, what in rows)


def first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")


def about(program: str, words: list[str], commands: Mapping[str, Command]) -> str:
    """What `bench help WORDS` prints. Raises Failure "usage" for what is neither a command nor a topic."""
    name = " ".join(words)
    if not words:
        return overview(program, commands)
    if name in TOPICS:
        return TOPICS[name]
    if name in commands:
        return commands[name].parser(program).format_help()
    if name in groups(commands):
        return group(program, name, commands)
    names = [*commands, *groups(commands), *TOPICS, *MAINS]
    raise usage(f"there is no command or topic {name!r}", f"{did_you_mean(name, names)}see: bench help")


def groups(commands: Mapping[str, Command]) -> list[str]:
    """The first words of two-word commands, once each."""
    return list(dict.fromkeys(name.split()[0] for name in commands if " " in name))


def no_such(words: list[str], commands: Mapping[str, Command]) -> Failure:
    """The failure for words that name no command."""
    word = words[0]
    if word in groups(commands):
        subs = [name.split()[1] for name in commands if name.startswith(f"{word} ")]
        given = f"there is no {word} {words[1]}" if len(words) > 1 else f"{word}: one word is missing"
        near = did_you_mean(words[1], subs) if len(words) > 1 else ""
        return usage(given, f"{near}there are: {', '.join(f'{word} {sub}' for sub in subs)}")
    if word.startswith("-"):
        return usage(
            f"{word} stands before a command", "a command's options come after its name; see: bench help"
        )
    names = [*{name.split()[0] for name in commands}, *MAINS, "help", "version"]
    return usage(f"there is no command {word!r}", f"{did_you_mean(word, names)}see: bench help")
