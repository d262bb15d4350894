# SPDX-License-Identifier: Apache-2.0
"""The Pythons the samples run in: made once below build/samples/, used again by every later test.

    environment = sample_envs.get("tensorflow1", build=True)   # Missing says what is not there
    environment.python, environment.variables, environment.version

As a program it makes the named ones, or all: python3 tests/e2e/sample_envs.py [NAME...]
"""

import collections
import fcntl
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "samples"
LIBRARIES = "usr/lib/x86_64-linux-gnu"

Environment = collections.namedtuple("Environment", "python variables version")


class Missing(Exception):
    """The environment can't be had here; the text says why."""


class Recipe:
    """`pythons`: versions in order of preference; `requirements`: for pip; `module` is imported as
    proof; `debian`: packages whose files are needed besides; `links`: library name -> Debian's."""

    def __init__(self, pythons, requirements, module, debian=(), links=None, from_debian=False):
        self.pythons = pythons
        self.requirements = requirements
        self.module = module
        self.debian = debian
        self.links = links or {}
        self.from_debian = from_debian


RECIPES = {
    "scikit-learn": Recipe(["3.12", "3.11", "3.13", "3.10", "3.9"], ["scikit-learn", "matplotlib", "pandas"],
                           "sklearn"),
    # 1.15 was made before protobuf 3.21 and h5py 3 broke with their past.
    "tensorflow1": Recipe(["3.7", "3.6"], ["tensorflow==1.15.5", "protobuf<3.21", "h5py<3"], "tensorflow"),
    "tensorflow2": Recipe(["3.13", "3.12", "3.11", "3.10", "3.9"], ["tensorflow-cpu"], "tensorflow"),
    "cntk": Recipe(["3.6"], ["cntk==2.7"], "cntk", debian=["libopenmpi3"],
                   links={"libmpi.so.12": "libmpi.so.40", "libmpi_cxx.so.1": "libmpi_cxx.so.40"}),
    # The index has torch for Linux with all of CUDA only, some gigabytes; Debian has it for the processor.
    "torch": Recipe(["3.11"], [], "torch", debian=["python3-torch"], from_debian=True),
}


def interpreters():
    """{"3.7": path} of the Pythons on PATH and of pyenv, the newest patch release of each."""
    candidates = []
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    by_number = sorted(glob.glob(os.path.join(root, "versions", "3.*", "bin", "python")),
                       key=lambda p: [int(n) for n in re.findall(r"\d+", p.split("versions")[1])], reverse=True)
    candidates += by_number
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if "shims" not in folder:
            candidates += [os.path.join(folder, f"python3.{minor}") for minor in range(6, 30)]
    found = {}
    for path in candidates:
        number = _version(path)
        if number:
            found.setdefault(number, path)
    return found


def _version(python):
    if not os.access(python, os.X_OK):
        return None
    code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, check=False)
    return done.stdout.decode().strip() if done.returncode == 0 else None


def get(name, build):
    """The environment; made now if `build` and it is not there yet. Raises Missing."""
    recipe = RECIPES[name]
    folder = CACHE / f"{name}-{_key(recipe)}"
    if (folder / "ready.json").exists():
        return _load(folder)
    if not build:
        raise Missing(f"{folder.relative_to(ROOT)} is not made; TENON_DEEP=1 or tests/e2e/sample_envs.py makes it")
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            _make(recipe, folder)
    return _load(folder)


def _key(recipe):
    text = json.dumps([recipe.requirements, recipe.debian, recipe.links, recipe.pythons])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _load(folder):
    return Environment(**json.loads((folder / "ready.json").read_text()))


def _make(recipe, folder):
    started = time.monotonic()
    interpreter = "/usr/bin/python3" if recipe.from_debian else _choose(recipe)
    folder.mkdir()
    python = folder / "venv" / "bin" / "python"
    _run([interpreter, "-m", "venv"] + ["--without-pip"] * recipe.from_debian + [folder / "venv"])
    if recipe.requirements:
        _run([python, "-m", "pip", "install", "-q", "--upgrade", "pip", "setuptools", "wheel"])
        _run([python, "-m", "pip", "install", "-q", "--prefer-binary", *recipe.requirements])
    variables = {}
    if recipe.debian:
        tree = _debian_tree(recipe.debian, folder)
        variables["LD_LIBRARY_PATH"] = os.pathsep.join(_library_folders(recipe, folder, tree))
        packages = tree / "usr/lib/python3/dist-packages"
        if packages.is_dir():
            site = next((folder / "venv" / "lib").glob("python3*")) / "site-packages"
            (site / "debian.pth").write_text(f"{packages}\n/usr/lib/python3/dist-packages\n")
    proof = f"import {recipe.module} as m, sys; print('%s on Python %d.%d.%d' % ((m.__version__,) + sys.version_info[:3]))"
    version = _run([python, "-c", proof], env=dict(os.environ, **variables)).strip().splitlines()[-1]
    ready = {"python": str(python), "variables": variables, "version": f"{recipe.module} {version}"}
    (folder / "making.json").write_text(json.dumps(ready))
    os.rename(folder / "making.json", folder / "ready.json")
    print(f"{folder.name}: {ready['version']}, made in {time.monotonic() - started:.0f} s", file=sys.stderr)


def _choose(recipe):
    have = interpreters()
    for wanted in recipe.pythons:
        if wanted in have:
            return have[wanted]
    raise Missing(f"{' '.join(recipe.requirements)} needs Python {' or '.join(recipe.pythons)}; "
                  f"found {', '.join(sorted(have)) or 'none'} on PATH and at pyenv's")


def _run(command, env=None, cwd=None):
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, env=env, cwd=cwd, check=False)
    except OSError as error:
        raise Missing(str(error)) from None
    if done.returncode != 0:
        raise Missing(f"{' '.join(map(str, command))}: {done.stderr.decode('utf-8', 'replace').strip()[-600:]}")
    return done.stdout.decode("utf-8", "replace")


def _debian_tree(packages, folder):
    """The files of Debian packages and of all they need that is not installed, unpacked in a folder:
    needs no root and changes nothing outside it."""
    listing = _run(["apt-get", "install", "--print-uris", "-qq", "-y", "--no-install-recommends", *packages],
                   env=dict(os.environ, LC_ALL="C"))
    files = [line.split()[1] for line in listing.splitlines() if line.startswith("'")]
    names = [re.sub("%3a", ":", f).rsplit("_", 1)[0].replace("_", "=") for f in files]
    names = [n for n in names if not n.startswith(("libc6=", "libc-bin=", "libstdc++6=", "libgcc-s1="))]
    tree, store = folder / "root", folder / "debs"
    tree.mkdir()
    store.mkdir()
    if names:
        _run(["apt-get", "download", "-qq", *names], cwd=store)
    for archive in sorted(store.glob("*.deb")):
        _run(["dpkg-deb", "-x", archive, tree])
    shutil.rmtree(store)
    return tree


def _library_folders(recipe, folder, tree):
    """Where the dynamic linker finds what was unpacked: links of ours, then every folder that apt's
    alternatives would have pointed to."""
    links = folder / "links"
    links.mkdir()
    for name, target in recipe.links.items():
        found = [p / target for p in (tree / LIBRARIES, Path("/") / LIBRARIES) if (p / target).exists()]
        if not found:
            raise Missing(f"{target} is in none of {' '.join(recipe.debian)}")
        (links / name).symlink_to(found[0])
    folders = [links, tree / LIBRARIES, tree / "lib/x86_64-linux-gnu", tree / "usr/lib"]
    folders += sorted({p.parent for pattern in ("libblas.so.3", "liblapack.so.3")
                       for p in (tree / LIBRARIES).glob(f"*/{pattern}")})
    return [str(f) for f in folders]


def main(names):
    failed = False
    for name in names or sorted(RECIPES):
        try:
            environment = get(name, build=True)
            print(f"{name}: {environment.version}: {environment.python}", flush=True)
        except Missing as missing:
            failed = True
            print(f"{name}: {missing}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
