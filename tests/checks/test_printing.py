# SPDX-License-Identifier: Apache-2.0
"""Text from a host, an engine, a tool or a project file reaches a terminal by the functions of
src/cli/print/print.h alone, which take out what would steer it. A new way past them fails here."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Everything that ends in the program `tenon`; the runner's folders write files and pipes only.
NEAR = ("cli", "engine", "history", "jmespath", "launch", "project", "secrets", "transport", "yaml")

WAYS = {
    "stdio": re.compile(r"\b(?:v?f?d?printf|f?puts|f?putc|putchar|fwrite|perror|psignal)\s*\("),
    "streams": re.compile(r"std::(?:cout|cerr|clog|print|println)\b|<iostream>"),
    "descriptors": re.compile(r"\bwritev?\s*\(\s*(?:1|2|STD(?:OUT|ERR)_FILENO)\b"
                              r"|WriteAll\s*\(\s*(?:1|2|STD(?:OUT|ERR)_FILENO)\b"),
    "terminal": re.compile(r"/dev/tty"),
    "sequences": re.compile(r"\\033|\\x1[bB]|\\e\["),
    # Keeps line breaks: what follows one would pass for a line of ours. OneLine() and Hanging() do not. (An Error's are
    # indented when it is printed.)
    "lines": re.compile(r"\bForTerminal\s*\("),
    "bytes": re.compile(r"\bPrint(?:Err)?Bytes\s*\("),
    # Of JSON: what the printer made, or what joins its pieces.
    "json": re.compile(r"\bPrintJsonText\s*\((?!\s*(?:json::Print|\"|first \?|empty_ \?))"),
}

# file, way: why it is no way past.
ALLOWED = {
    ("cli/print/print.cc", "descriptors"): "the sink itself",
    ("cli/print/print.cc", "sequences"): "our own styles",
    ("cli/print/print.cc", "lines"): "the sink itself",
    ("cli/print/show_page.cc", "lines"): "a text of several lines, indented below its name",
    ("cli/print/ask.cc", "lines"): "questions",
    ("cli/print/print.cc", "bytes"): "the sink itself",
    ("cli/print/print.cc", "json"): "the sink itself",
    ("cli/print/print.h", "bytes"): "declares it",
    ("cli/print/print.h", "json"): "declares it",
    ("cli/print/ask.cc", "terminal"): "questions, by ForTerminal()",
    ("cli/print/terminal_reporter.cc", "bytes"): "what the script prints, exactly",
    ("cli/runs/logs.cc", "bytes"): "what the script printed, exactly",
    ("cli/runs/history_info.cc", "bytes"): "an artifact, exactly",
    ("transport/askpass.cc", "descriptors"): "the answer to ssh, on a pipe",
}


def without_comments(text):
    return "\n".join(line.split("//")[0] for line in text.splitlines())


def ways_in(name, text):
    code = without_comments(text)
    return [(name, way) for way, pattern in WAYS.items() if pattern.search(code) and (way != "lines" or name.startswith("cli/"))]


def sources():
    for folder in NEAR:
        for path in sorted((ROOT / "src" / folder).rglob("*")):
            if path.suffix in (".cc", ".h") and not path.stem.endswith(("_test", "_fuzz")):
                yield str(path.relative_to(ROOT / "src")), path.read_text()


def test_nothing_reaches_a_terminal_past_the_printers():
    found = {way for name, text in sources() for way in ways_in(name, text)}
    assert found - set(ALLOWED) == set()
    assert set(ALLOWED) - found == set(), "no longer needed"


def test_a_new_way_is_noticed():
    for line, way in (('std::printf("%s", name.c_str());', "stdio"), ("std::cerr << name;", "streams"),
                      ("::write(STDERR_FILENO, name.data(), 1);", "descriptors"),
                      ("(void)WriteAll(2, name).ok();", "descriptors"),
                      ('open("/dev/tty", O_WRONLY)', "terminal"), (r'"\033[1m" + name', "sequences"),
                      ('PrintErr(ForTerminal(name) + "\\n");', "lines"), ("PrintBytes(name);", "bytes"), ("PrintErrBytes(host.name);", "bytes"),
                      ('PrintJsonText(name + "\\n");', "json")):
        assert ways_in("cli/new.cc", line) == [("cli/new.cc", way)], line


def test_questions_are_cleaned():
    text = without_comments((ROOT / "src/cli/print/ask.cc").read_text())
    assert re.findall(r"WriteAll\((.*)\)\.ok\(\)", text) == ["terminal.get(), ForTerminal(question)"]
