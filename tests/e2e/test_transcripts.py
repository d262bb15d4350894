# SPDX-License-Identifier: Apache-2.0
"""The command lines of Workbench's projects and documentation, and what they print, under both names.

tests/data/transcripts/NAME.in has the lines, without the program's name; NAME.tenon.txt and NAME.az.txt what is printed for
them: standard output as it is, standard error behind "2> ", the exit code unless it is 0. Ids, times, durations, versions and
places are replaced. `<run 2>` in a line is the second run's id. Lines that begin with % are for the test:

    %wait        wait for the end of the newest run
    %cat FILE    show a file of the project
    %files DIR   list the files below a folder of the project

TENON_WRITE_TRANSCRIPTS=1 writes the printed texts anew; look at the difference before it is committed.
"""

import os
import re
import shlex

import pytest

from e2e import harness

FOLDER = harness.ROOT / "tests" / "data" / "transcripts"
NAMES = sorted(p.stem for p in FOLDER.glob("*.in"))
PROGRAMS = {"tenon": ["tenon"], "az": ["az", "ml"]}

TRAIN = """\
import json, os, sys
from azureml.logging import get_azureml_logger
logger = get_azureml_logger()
print("arguments:", sys.argv[1:])
rate = next((float(a) for a in sys.argv[1:2] if a.replace(".", "").isdigit()), 0.01)
logger.log("Regularization Rate", rate)
logger.log("Accuracy", 1 - rate)
os.makedirs("outputs/saved", exist_ok=True)
with open("outputs/model.pkl", "w") as f:
    f.write("model of %s" % rate)
with open("outputs/saved/graph.pb", "w") as f:
    f.write("graph")
"""
SUB = "import os, sys\nprint('in', os.path.basename(os.getcwd()), sys.argv)\n"
FILES = {
    "code/sub/x.py": SUB,
    "Code/y.py": SUB,
    "aml_config/docker.compute": "type: localdocker\nbaseDockerImage: ubuntu:22.04\nsharedVolumes: true\n",
    "aml_config/docker.runconfig": "Target: docker\nFramework: Python\nPrepareEnvironment: true\n",
    "aml_config/conda_dependencies.yml": "name: project_environment\ndependencies:\n- python=3.5.2\n",
    "aml_config/spark_dependencies.yml": "configuration: {}\nrepositories: []\npackages: []\n",
    ".azureml/project.json": '{"Id":"6f3a2d1c-4b5e-4f60-8a7b-9c0d1e2f3a4b","Scope":"/subscriptions/'
                             '00000000-0000-0000-0000-000000000000/resourceGroups/g/providers/Microsoft.'
                             'MachineLearningExperimentation/accounts/a/workspaces/w/projects/myIris"}',
}


class Player:
    def __init__(self, tenon, program, project, tmp_path):
        programs = tmp_path / "programs"
        programs.mkdir()
        for name in ("tenon", "az"):
            (programs / name).symlink_to(tenon.binary)
        self.tenon = harness.Tenon(programs / program[0], tenon.home, tmp_path)
        self.plain = tenon
        self.words = program[1:]
        self.project = project
        self.tmp_path = tmp_path
        self.runs = []

    def play(self, line):
        words = shlex.split(re.sub(r"<run (\d+)>", lambda m: self.runs[int(m[1]) - 1], line).replace("\\", "\\\\"))
        done = self.tenon.run(*self.words, *words, cwd=self.project)
        for run in re.findall(r"\bmyIris_\d{13}\b", done.out + done.err):
            if run not in self.runs:
                self.runs.append(run)
        text = done.out
        if text and not text.endswith("\n"):
            text += "<no line end>\n"
        text += "".join(f"2> {part}\n" for part in done.err.splitlines())
        return self.replace(text + (f"exit code {done.code}\n" if done.code else ""))

    def direct(self, line):
        words = line[1:].split()
        if words[0] == "wait":
            self.plain.run("logs", "-f", "last", cwd=self.project)
            return ""
        if words[0] == "cat":
            text = (self.project / words[1]).read_bytes().decode()
            return self.replace(text if text.endswith("\n") else text + "<no line end>\n")
        assert words[0] == "files", line
        below = self.project / words[1]
        return "".join(sorted(f"{p.relative_to(self.project)}\n" for p in below.rglob("*") if p.is_file()))

    def replace(self, text):
        for index, run in enumerate(self.runs):
            text = text.replace(run, f"<run {index + 1}>")
        text = text.replace(str(self.project), "<project>").replace(str(self.tmp_path), "<scratch>")
        for pattern, name in [
                (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", "<time>"), (r"\b\d+:\d\d:\d\d\.\d{6}\b", "<duration>"),
                (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<guid>"),
                (r"\b[0-9a-f]{64}\b", "<hash>"), (r"\b[0-9a-f]{40}\b", "<commit>"), (r"#[0-9a-f]{32}\b", "#<id>"),
                (r'("bytes(?:_freed)?": )\d+', r"\1<number>"), (r"\b\d+(?:\.\d+)? [KM]?B\b", "<size>"),
                (r"\b(?:\d+ min )?\d+(?:\.\d+)? m?s\b", "<seconds>"),
                (r'(Python |"python_version": ")\d+\.\d+\.\d+\+?', r"\1<version>"),
                (r"(Python <version>: |\"python\": \")[^\"\n]+", r"\1<path>")]:
            text = re.sub(pattern, name, text)
        # Told of steps that take long, as every one does on a busy disk.
        return re.sub(r"(?m)^2> (?:snapshot|unpack|collect outputs): <seconds>.*\n", "", text)


@pytest.mark.parametrize("program", sorted(PROGRAMS))
@pytest.mark.parametrize("name", NAMES)
def test_transcript(tenon, project, tmp_path, name, program):
    folder = project(TRAIN, name="iris folder", script_name="iris.py", files=FILES)
    player = Player(tenon, PROGRAMS[program], folder, tmp_path)
    written = ""
    for line in (FOLDER / f"{name}.in").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            written += line + "\n"
        elif line.startswith("%"):
            shown = player.direct(line)
            written += f"{line}\n{shown}" if shown else ""
        else:
            written += f"$ {' '.join(PROGRAMS[program])} {line}\n{player.play(line)}"
    golden = FOLDER / f"{name}.{program}.txt"
    if os.environ.get("TENON_WRITE_TRANSCRIPTS") == "1":
        golden.write_text(written)
    assert golden.exists(), f"{golden} is not there; TENON_WRITE_TRANSCRIPTS=1 writes it"
    assert written == golden.read_text()
