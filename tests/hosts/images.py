# SPDX-License-Identifier: Apache-2.0
"""Base images made from nothing: Debian by debootstrap, a busybox root, a root with a single static program. Nothing is
pulled. The roots are kept as tar files below build/test-images/ and used again by every later test.

    images.root("debian")          # path of the tar; Missing says why it can't be had
    images.load(engine.api, "debian") -> "tenon-test/debian:1"
"""

import contextlib
import fcntl
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from e2e import sample_envs  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "test-images"
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
RECIPE = "1"  # goes up when the way they are made changes
LIBRARIES = "usr/lib/x86_64-linux-gnu"
# CNTK asks for the names of OpenMPI 1.10.
MPI_LINKS = {"libmpi.so.12": "libmpi.so.40", "libmpi_cxx.so.1": "libmpi_cxx.so.40"}


class Missing(Exception):
    """The image can't be made here; the text says why."""


def load(api, name):
    """The image's name in the engine, where it is put if it is not there yet."""
    full = f"tenon-test/{name}:1"
    if api.image(full) is None:
        changes = ["ENV " + PATH, "CMD [\"/bin/sh\"]"] if name != "single" else []
        api.load_root(root(name), full, changes)
    return full


def root(name):
    maker, key = MAKERS[name]
    made = CACHE / f"{name}-{hashlib.sha256((RECIPE + key).encode()).hexdigest()[:12]}.tar"
    if made.exists():
        return made
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            started = time.monotonic()
            making = made.with_suffix(".making")
            try:
                maker(making)
            except Missing:
                making.unlink(missing_ok=True)
                raise
            os.rename(making, made)
            print(f"{made.name}: {made.stat().st_size >> 20} MB, made in {time.monotonic() - started:.0f} s",
                  file=sys.stderr)
    return made


def _run(*command):
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, check=False, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, LC_ALL="C", DEBIAN_FRONTEND="noninteractive"))
    except OSError as error:
        raise Missing(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        text = (done.stdout + done.stderr).decode("utf-8", "replace")
        raise Missing(f"{' '.join(map(str, command))}: {text.strip()[-800:]}")


@contextlib.contextmanager
def _debian_tree(packages, suite="bookworm"):
    """Debian with the packages, without what a container never needs."""
    if os.geteuid() != 0:
        raise Missing("debootstrap needs root")
    with tempfile.TemporaryDirectory(prefix="tenon-image-") as scratch:
        tree = Path(scratch) / "root"
        _run("debootstrap", "--variant=minbase", "--include=" + ",".join(packages), suite, tree,
             "http://deb.debian.org/debian")
        for waste in ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale", "dev"):
            shutil.rmtree(tree / waste, ignore_errors=True)
            (tree / waste).mkdir()
        yield tree


def _pack(tree, tar):
    _run("tar", "-C", tree, "--numeric-owner", "-cf", tar, ".")


PACKAGES = ["python3", "python3-venv", "ca-certificates"]


def _debian(tar):
    with _debian_tree(PACKAGES) as tree:
        _pack(tree, tar)


OLD_PACKAGES = ["openssh-server", "python3"]


def _debian11(tar):
    """A machine of 2021: glibc 2.31, OpenSSH 8.4, Python 3.9."""
    with _debian_tree(OLD_PACKAGES, "bullseye") as tree:
        _pack(tree, tar)


def _cntk(tar):
    """Debian with OpenMPI under the names of 1.10, and a Python 3.6 that was found on this machine."""
    found = sample_envs.interpreters().get("3.6")
    if found is None:
        raise Missing("no Python 3.6 on PATH or at pyenv's")
    code = "import sys; print(sys.base_prefix)"
    prefix = Path(subprocess.run([found, "-c", code], capture_output=True, check=True).stdout.decode().strip())
    packages = ["ca-certificates", "libopenmpi3", "libssl3", "libffi8", "libbz2-1.0", "liblzma5", "zlib1g", "libsqlite3-0"]
    with _debian_tree(packages) as tree:
        # At the same path: its program knows it. Everybody may go there.
        target = tree / prefix.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        waste = shutil.ignore_patterns("test", "site-packages", "__pycache__", "*.a", "idlelib", "share")
        shutil.copytree(prefix, target, symlinks=True, ignore=waste)
        (target / "lib/python3.6/site-packages").mkdir()
        for folder in [target, *target.parents]:
            if folder != tree and tree in folder.parents:
                folder.chmod(0o755)
        (tree / "usr/local/bin/python3.6").symlink_to(prefix / "bin/python3.6")
        for name, real in MPI_LINKS.items():
            (tree / LIBRARIES / name).symlink_to(real)
        _run("chroot", tree, "ldconfig")
        _pack(tree, tar)


class _Root:
    """A root folder that is nothing but a few members of a tar."""

    def __init__(self, path):
        self._tar = tarfile.open(path, "w")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._tar.close()

    def folder(self, name, mode=0o755):
        info = tarfile.TarInfo(name)
        info.type, info.mode = tarfile.DIRTYPE, mode
        self._tar.addfile(info)

    def file(self, name, data, mode=0o644):
        info = tarfile.TarInfo(name)
        info.size, info.mode = len(data), mode
        self._tar.addfile(info, io.BytesIO(data))

    def link(self, name, target):
        info = tarfile.TarInfo(name)
        info.type, info.linkname = tarfile.SYMTYPE, target
        self._tar.addfile(info)


def _busybox_bytes():
    program = next((p for p in ("/bin/busybox", "/usr/bin/busybox") if os.access(p, os.X_OK)), None)
    if program is None:
        raise Missing("no busybox; scripts/setup --tests installs busybox-static")
    data = Path(program).read_bytes()
    if b"/lib64/ld-linux" in data[:4096]:
        raise Missing(f"{program} is not static; scripts/setup --tests installs busybox-static")
    return data


def _busybox(tar):
    """No glibc, no Python, no passwd file, nothing but busybox under its names."""
    data = _busybox_bytes()
    names = subprocess.run(["busybox", "--list"], capture_output=True, check=True).stdout.decode().split()
    with _Root(tar) as made:
        for folder in ("bin", "etc", "proc", "sys", "dev", "usr"):
            made.folder(folder)
        made.folder("tmp", 0o1777)
        made.link("usr/bin", "../bin")
        made.file("bin/busybox", data, 0o755)
        for name in names:
            if name != "busybox":
                made.link(f"bin/{name}", "busybox")


def _single(tar):
    """One static program and not one folder besides."""
    with _Root(tar) as made:
        made.file("only", _busybox_bytes(), 0o755)


MAKERS = {
    "debian": (_debian, " ".join(PACKAGES)),
    "cntk": (_cntk, "3.6 libopenmpi3"),
    "debian11": (_debian11, " ".join(OLD_PACKAGES)),
    "busybox": (_busybox, ""),
    "single": (_single, ""),
}


if __name__ == "__main__":
    for wanted in sys.argv[1:] or MAKERS:
        print(root(wanted))
