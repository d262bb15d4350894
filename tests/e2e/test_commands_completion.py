# SPDX-License-Identifier: Apache-2.0
"""The completion scripts, in real shells."""

import os
import shutil
import subprocess

import pytest


def script_of(tenon, shell):
    path = tenon.scratch / f"completion.{shell}"
    path.write_text(tenon.run("completion", shell).ok().out)
    return path


def with_tenon_on_path(tenon):
    folder = tenon.scratch / "bin"
    folder.mkdir(exist_ok=True)
    link = folder / "tenon"
    if not link.exists():
        link.symlink_to(tenon.binary)
    return tenon.env({"PATH": f"{folder}:{os.environ['PATH']}"})


def complete_in_bash(tenon, *words, cwd=None, lines=False):
    quoted = " ".join(f"'{w}'" for w in words)
    code = (f"source {script_of(tenon, 'bash')}\nCOMP_WORDS=({quoted})\nCOMP_CWORD={len(words) - 1}\n"
            "_tenon\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n")
    done = subprocess.run(["bash", "--noprofile", "--norc", "-c", code], env=with_tenon_on_path(tenon),
                          cwd=cwd or tenon.scratch, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == "", done.stderr
    return sorted(done.stdout.splitlines() if lines else done.stdout.split())


def test_bash_takes_the_script(tenon):
    subprocess.run(["bash", "-n", script_of(tenon, "bash")], check=True)


def test_bash_completes_commands_options_and_choices(tenon):
    assert complete_in_bash(tenon, "tenon", "hist") == ["history"]
    assert complete_in_bash(tenon, "tenon", "history", "") == [
        "compare", "download", "info", "last", "list", "promote", "rebuild"]
    assert complete_in_bash(tenon, "tenon", "experiment", "s") == ["status", "submit"]
    assert complete_in_bash(tenon, "tenon", "runs", "-o", "json") == ["json", "jsonc"]
    assert complete_in_bash(tenon, "tenon", "logs", "--raw", "") == ["both", "stderr", "stdout"]
    assert complete_in_bash(tenon, "tenon", "completion", "") == ["bash", "fish", "zsh"]
    assert "--dry-run" in complete_in_bash(tenon, "tenon", "submit", "--")


def test_bash_completes_runs_and_files(tenon, project):
    folder = project()
    run = tenon.run("submit", "-q", "main.py", cwd=folder).ok().out.strip()
    for words in (("show",), ("restore",), ("rerun",), ("runs", "delete"), ("history", "info", "-r"),
                  ("compare", "1")):
        assert complete_in_bash(tenon, "tenon", *words, "proj_", cwd=folder) == [run], words
    assert complete_in_bash(tenon, "tenon", "show", "", cwd=folder) == ["1", "last", run]
    assert complete_in_bash(tenon, "tenon", "submit", "ma", cwd=folder) == ["main.py"]
    assert complete_in_bash(tenon, "tenon", "submit", "-c", "local", "main.py", "ma", cwd=folder) == ["main.py"]
    assert complete_in_bash(tenon, "tenon", "submit", "main.py", "--", cwd=folder) == []
    assert complete_in_bash(tenon, "tenon", "restore", run, "aml", cwd=folder) == ["aml_config"]


def many_names(project):
    return project(files={
        "aml_config/my gpu.compute": "type: local\npythonLocation: python3\n",
        "aml_config/slow.runconfig": "Target: local\nFramework: Python\n",
        "aml_config/broken.runconfig": "Target: [\n", "models/keep.txt": "", "notes.txt": ""})


def test_bash_completes_targets_run_configurations_and_scripts(tenon, project):
    folder = many_names(project)

    def offers(*words):
        return complete_in_bash(tenon, "tenon", *words, cwd=folder, lines=True)

    assert offers("submit", "-c", "") == ["broken", "local", "slow"]
    assert offers("submit", "--run-configuration", "sl") == ["slow"]
    assert offers("experiment", "submit", "-t", "my") == ["my\\ gpu"]
    assert offers("submit", "-t", "") == ["docker", "local", "my\\ gpu"]
    assert offers("computetarget", "show", "lo") == ["local"]
    assert offers("runconfiguration", "delete", "-n", "") == ["broken", "local", "slow"]
    assert offers("submit", "-c", "slow", "") == ["aml_config", "main.py", "models"], "scripts and folders"
    assert offers("submit", "no") == ["notes.txt"], "anything, where no script fits"


def test_bash_completes_on_the_tab_key(tenon):
    """Readline itself: what a user sees after typing `tenon hist` and Tab."""
    rc = tenon.scratch / "bashrc"
    rc.write_text(f"PS1='$ '\nsource {script_of(tenon, 'bash')}\n")
    shell = type(tenon)(shutil.which("bash"), tenon.home, tenon.scratch)
    seen = shell.pty("--noprofile", "--rcfile", str(rc), "-i", keys=b"echo tenon-ready; exit\n", when="$ ")
    assert "tenon-ready" in seen.out
    seen = shell.pty("--noprofile", "--rcfile", str(rc), "-i", keys=b"tenon hist\tla\t\x01echo \x05; exit\n",
                     when="$ ")
    assert "tenon history last" in seen.out.replace("\r", ""), seen.out


@pytest.mark.planned_skip("needs zsh")
def test_zsh_completes_commands_and_choices(tenon):
    if not shutil.which("zsh"):
        pytest.skip("no zsh here")
    script = script_of(tenon, "zsh")
    subprocess.run(["zsh", "-n", script], check=True)
    # compadd and _describe stand in for the completion system, which wants a terminal.
    code = f"""
        compdef() {{ :; }}
        compadd() {{ shift; print -l -- "$@"; }}
        _describe() {{ print -l -- "${{(@P)2%%:*}}"; }}
        source {script}
        words=(tenon hist); CURRENT=2; _tenon
        print '====='; words=(tenon history list -o ''); CURRENT=5; _tenon
    """
    done = subprocess.run(["zsh", "-f", "-c", code], env=with_tenon_on_path(tenon), capture_output=True,
                          text=True, check=True, timeout=60)
    commands, choices = done.stdout.split("=====\n")
    assert "history" in commands.split() and choices.split() == ["json", "jsonc", "table", "tsv"], done


@pytest.mark.planned_skip("needs zsh")
def test_zsh_completes_on_the_tab_key(tenon, project):
    """The completion system itself, in a terminal."""
    if not shutil.which("zsh"):
        pytest.skip("no zsh here")
    folder = many_names(project)
    run = tenon.run("submit", "-q", "main.py", cwd=folder).ok().out.strip()
    rc = tenon.scratch / "zsh"
    rc.mkdir()
    (rc / ".zshrc").write_text(
        f"autoload -Uz compinit; compinit -u -d {rc}/dump; source {script_of(tenon, 'zsh')}; PS1='ready> '\n")
    shell = type(tenon)(shutil.which("zsh"), tenon.home, tenon.scratch)
    env = {"ZDOTDIR": str(rc), "PATH": with_tenon_on_path(tenon)["PATH"]}

    def completed(line):
        # The line becomes the words of a print, after Tab has been pressed in it.
        seen = shell.pty("-i", cwd=folder, env=env, when="ready> ",
                         keys=line.encode() + b"\t\x01print -r -- \x05 > said; exit\n")
        said = folder / "said"
        assert said.exists(), seen.out
        text = said.read_text().strip()
        said.unlink()
        return text

    assert completed("tenon hist") == "tenon history"
    assert completed("tenon history li") == "tenon history list"
    assert completed("tenon runs --qu") == "tenon runs --query"
    assert completed("tenon submit -c sl") == "tenon submit -c slow"
    assert completed("tenon submit -t my") == "tenon submit -t my gpu"
    assert completed("tenon show proj") == f"tenon show {run}"
    assert completed("tenon submit ma") == "tenon submit main.py"


@pytest.mark.planned_skip("needs fish")
def test_fish_completes_names_and_choices(tenon, project):
    if not shutil.which("fish"):
        pytest.skip("no fish here")
    script = script_of(tenon, "fish")
    folder = many_names(project)
    run = tenon.run("submit", "-q", "main.py", cwd=folder).ok().out.strip()

    def complete(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"],
                              env=with_tenon_on_path(tenon), capture_output=True, text=True, check=True,
                              timeout=60, cwd=folder)
        assert done.stderr == "", done.stderr
        return sorted(row.split("\t")[0] for row in done.stdout.splitlines())

    assert complete("tenon submit -c ") == ["broken", "local", "slow"]
    assert complete("tenon experiment submit -t my") == ["my gpu"]
    assert complete("tenon show proj") == [run]
    assert complete("tenon submit ma") == ["main.py"]
    assert complete("tenon hist") == ["history"]
    assert complete("tenon history li") == ["list"]
    assert complete("tenon runs -o js") == ["json", "jsonc"]
    assert complete("tenon show la") == ["last"]
