# SPDX-License-Identifier: Apache-2.0
"""The steps of scripts/test and scripts/check-deep. `--list` names them, `--deep` is the other set."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
from steps import Counts, Scheduler, Step, count_reports  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
LOGS = BUILD / "test-logs"
STRICT = os.environ.get("CI") == "true"
CORES = os.cpu_count() or 1
# For what fills the time in which another step waits. Where the kernel shares its time among sessions first, and each
# step has one of its own, being nice within the session is not enough.
IN_THE_GAPS = ["sh", "-c", 'echo 19 2>/dev/null >/proc/self/autogroup; exec nice -n 19 "$@"', "in-the-gaps"]
SANITIZER_ENV = {
    "ASAN_OPTIONS": "abort_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


def without_random_addresses():
    """The sanitizers of this compiler generation can't start where the kernel scatters mappings
    over more than 28 bits."""
    try:
        if int(Path("/proc/sys/vm/mmap_rnd_bits").read_text()) > 28:
            return ["setarch", "-R"]
    except (OSError, ValueError):
        pass
    return []


def one(code, name, what):
    """A check that passes or fails as a whole."""
    if code == 0:
        return Counts(passed=1)
    return Counts(failed=1, remarks=[f"failed: {name}: {what} ended with {code}"])


def command(name, *words, limit=600, env=None):
    return lambda log: one(log.run(words, limit, env, ROOT), name, Path(str(words[0])).name)


def tracked(*suffixes, below=("src", "tests", "bench")):
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *below], cwd=ROOT,
        capture_output=True, check=True).stdout.decode()
    names = [n for n in listing.split("\0") if n.endswith(suffixes) and (ROOT / n).is_file()]
    return sorted(set(names))


def check_format(log):
    return one(log.run(["clang-format", "--dry-run", "-Werror", *tracked(".cc", ".h")], 600,
                       cwd=ROOT), "format", "clang-format")


def check_spelling(log):
    return one(log.run(["codespell", *tracked("", below=())], 600, cwd=ROOT), "spelling",
               "codespell")


def compiled_before():
    """What the fresh root's builds have compiled need not be compiled again here."""
    folder = BUILD / "compiled-in-fresh-root"
    return {"CCACHE_REMOTE_STORAGE": f"file:{folder}|read-only"} if folder.is_dir() else {}


# What scripts/build leaves out.
SETTINGS = {"release": ("TENON_TESTS", "TENON_AARCH64")}


def configure(preset, log):
    """The exit code of cmake, which runs only if it has to."""
    presets = ROOT / "CMakePresets.json"
    made, cache = BUILD / preset / "build.ninja", BUILD / preset / "CMakeCache.txt"
    known = cache.read_text(encoding="utf-8").splitlines() if cache.exists() else []
    settings = SETTINGS.get(preset, ())
    if (made.exists() and made.stat().st_mtime >= presets.stat().st_mtime
            and all(f"{name}:BOOL=ON" in known for name in settings)):
        return 0
    return log.run(["cmake", "--preset", preset, *(f"-D{name}=ON" for name in settings)], 300, cwd=ROOT)


def build(preset, *targets, prefix=()):
    def work(log):
        code = configure(preset, log)
        if code:
            return one(code, "build-" + preset, "cmake")
        return one(log.run([*prefix, "ninja", "-C", BUILD / preset, *targets], 7200, compiled_before(), ROOT),
                   "build-" + preset, "ninja")
    return work


def clang_tidy(log):
    """With the options of the build by clang: what the other one's compiler is told means nothing to it."""
    # Always: files may have come and gone since the build was configured.
    code = log.run(["cmake", "--preset", "fuzz"], 300, cwd=ROOT)
    if code:
        return one(code, "clang-tidy", "cmake")
    return one(log.run([*IN_THE_GAPS, sys.executable, ROOT / "scripts/lib/tidy.py", ROOT, BUILD / "fuzz"], 14400,
                       cwd=ROOT), "clang-tidy", "tidy.py")


def unit(preset):
    """All GoogleTest programs of a build; a program that dies counts as one failure."""
    def work(log):
        reports = fresh(LOGS / f"unit-{preset}")
        programs = sorted((BUILD / preset / "src").glob("*_test"))
        if not programs:
            return Counts(failed=1, remarks=[f"failed: unit-{preset}: no test programs"])
        prefix = [] if preset == "release" else without_random_addresses()
        counts = Counts()
        for program in programs:
            report = reports / f"{program.name}.xml"
            with tempfile.TemporaryDirectory(prefix="tenon-unit-") as scratch:
                os.chmod(scratch, 0o755)  # tests that change user must get through
                code = log.run([*prefix, program, f"--gtest_output=xml:{report}", "--gtest_brief=1"], 900,
                               {**SANITIZER_ENV, "TMPDIR": scratch}, scratch)
            if code != 0 and (not report.exists() or code != 1):
                counts += one(code, f"unit-{preset}", program.name)
        counts += count_reports(reports, STRICT)
        if counts.passed == 0:
            counts += Counts(failed=1, remarks=[f"failed: unit-{preset}: no case has run"])
        return counts
    return work


# What a host sends must not make the client take more than 256 MiB; the rest is what the sanitizers need.
# One input of these is as large as a host may send, which takes seconds on a busy machine.
FUZZ_LIMITS = {name: ["-rss_limit_mb=768", "-malloc_limit_mb=160", "-timeout=120"]
               for name in ("host_fuzz", "host_tree_fuzz")}


def fuzz(target, seconds):
    """Saved inputs first, then new ones made from them. What is found stays in the log folder."""
    limits = FUZZ_LIMITS.get(target, ["-rss_limit_mb=2048"])
    def work(log):
        corpus = ROOT / "tests" / "corpus" / target
        seeds = list(corpus.glob("*"))
        if not seeds:
            return Counts(failed=1, remarks=[f"failed: {target}: no saved inputs in {corpus}"])
        found = LOGS / f"found-{target}-"
        with tempfile.TemporaryDirectory(prefix="tenon-fuzz-") as scratch:
            return one(log.run([*without_random_addresses(), BUILD / "fuzz" / "src" / target,
                                f"-max_total_time={seconds}", "-timeout=20", *limits,
                                "-print_final_stats=1", f"-artifact_prefix={found}", scratch, corpus],
                               seconds + 300, SANITIZER_ENV, scratch), target, target)
    return work


def fuzzers():
    return [Path(n).stem for n in tracked("_fuzz.cc", below=("src",))]


def quick_fuzzers():
    """Without the one that needs the whole program, which takes longer to build than all others:
    that is for scripts/check-deep."""
    return [name for name in fuzzers() if name != "command_fuzz"]


def python_with_pytest():
    for candidate in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([candidate, "-c", "import pytest"], capture_output=True,
                          check=False).returncode == 0:
            return candidate
    sys.exit("no Python with pytest; scripts/setup --tests installs python3-pytest")


def pytest(name, folder, shard=None, deep=False, only=(), limit=3600):
    """`only`: further words for pytest, which choose among the folder's tests."""
    def work(log):
        reports = fresh(LOGS / name)
        env = {"PYTHONDONTWRITEBYTECODE": "1"}
        if shard:
            env["TENON_SHARD"] = shard
        if deep:
            env["TENON_DEEP"] = "1"
        scratch = tempfile.mkdtemp(prefix="tenon-test-")
        try:
            code = log.run([python_with_pytest(), "-m", "pytest", "-p", "no:cacheprovider", "-q",
                            "-ra", "--durations=15", f"--junitxml={reports / 'report.xml'}",
                            f"--basetemp={scratch}/t", *only, ROOT / "tests" / folder], limit, env, ROOT)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        counts = count_reports(reports, STRICT)
        if code not in (0, 1) or (code == 1) != bool(counts.failed):
            counts += Counts(failed=1, remarks=[f"failed: {name}: pytest ended with {code}"])
        return counts
    return work


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def pytest_folders():
    names = {Path(n).parts[1] for n in tracked(".py", below=("tests",))
             if Path(n).name.startswith("test_")}
    return sorted(names - {"e2e", "fresh_root"})


def ordinary_steps():
    seconds = int(os.environ.get("TENON_FUZZ_SECONDS", "30"))
    steps = [
        Step("layers", command("layers", ROOT / "scripts/check-layers")),
        Step("format", check_format),
        Step("spelling", check_spelling),
        Step("build-release", build("release"), slots=CORES),
    ]
    # The release programs are enough for most tests; the other builds fill the gaps.
    for shard in range(2):
        steps.append(Step(f"e2e-{shard}", pytest(f"e2e-{shard}", "e2e", f"{shard}/2"),
                          ("build-release",)))
    for folder in pytest_folders():
        steps.append(Step(folder, pytest(folder, folder), ("build-release",)))
    steps.append(Step("unit-release", unit("release"), ("build-release",)))
    before = tuple(s.name for s in steps)
    steps += [
        Step("build-asan", build("asan"), slots=CORES, after=before),
        Step("build-fuzz", build("fuzz", *quick_fuzzers()), slots=CORES, after=before),
        Step("unit-asan", unit("asan"), ("build-asan",)),
    ]
    for target in quick_fuzzers():
        steps.append(Step(target, fuzz(target, seconds), ("build-fuzz",)))
    return steps


def deep_fuzzers():
    """{target: seconds}: what reads the words of a host, which may be hostile, gets ten minutes. Of the others
    those that the ordinary tests leave out."""
    seconds = int(os.environ.get("TENON_FUZZ_SECONDS") or 0)
    wanted = {name: seconds or 600 for name in FUZZ_LIMITS}
    return wanted | {name: seconds or 60 for name in fuzzers() if name not in quick_fuzzers()}


def deep_steps():
    steps = [
        # First, because it compiles everything from nothing, which serves the builds after it but for
        # the one whose compiler is told something else. That one and clang-tidy fill the time in which
        # its tests wait.
        Step("fresh-root", pytest("fresh-root", "fresh_root", deep=True, limit=14400)),
        Step("build-tsan", build("tsan", prefix=IN_THE_GAPS)),
        Step("clang-tidy", clang_tidy),
        Step("unit-tsan", unit("tsan"), ("build-tsan",)),
        # One slot each: what the fresh root has compiled is not compiled again, and clang-tidy may go on for long.
        Step("build-release", build("release"), after=("fresh-root",)),
        Step("build-fuzz", build("fuzz", *deep_fuzzers()), after=("fresh-root",)),
    ]
    # The ordinary tests, every other fuzz target among them, have passed in the fresh root; here only the long forms.
    for folder in ("e2e", "shim"):
        name = f"{folder}-deep"
        steps.append(Step(name, pytest(name, folder, deep=True, only=("-m", "deep or longer"), limit=7200),
                          ("build-release",)))
    for target, seconds in deep_fuzzers().items():
        steps.append(Step(target, fuzz(target, seconds), ("build-fuzz",)))
    return steps


def select(steps, names):
    """The named steps and what they need, in order."""
    by_name = {s.name: s for s in steps}
    unknown = [n for n in names if n not in by_name]
    if unknown:
        sys.exit(f"no such step: {', '.join(unknown)}; --list names them all")
    wanted, todo = set(), list(names)
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo += by_name[name].needs
    chosen = [s for s in steps if s.name in wanted]
    for step in chosen:
        step.after = tuple(n for n in step.after if n in wanted)
    return chosen


def main(argv):
    names = [a for a in argv if not a.startswith("-")]
    options = [a for a in argv if a.startswith("-")]
    if set(options) - {"--deep", "--list"}:
        sys.exit("usage: run_tests.py [--deep] [--list] [STEP...]")
    steps = deep_steps() if "--deep" in options else ordinary_steps()
    if "--list" in options:
        print("\n".join(s.name for s in steps))
        return 0
    LOGS.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    results = Scheduler(select(steps, names) if names else steps, CORES, LOGS,
                        lambda text: print(text, flush=True)).run()
    total = Counts()
    for counts in results.values():
        total += Counts(counts.passed, counts.failed, counts.skipped)
    print(f"took {(time.monotonic() - started) / 60:.1f} minutes; logs are in {LOGS}")
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
