# SPDX-License-Identifier: Apache-2.0
"""A conda channel of the tests' own: a folder with a real Python (an interpreter of this machine, packed), packages that
hold a module, one that knows its prefix, and two that can't be had together.

    python3 -m tests.hosts.channel FOLDER [INTERPRETER]

| package | what it is |
| --- | --- |
| python | INTERPRETER with its standard library; found from anywhere |
| tenon-lab 1.0, 2.0 | noarch: a module tenon_lab and a command |
| tenon-native 1.0 | linux-64: share/tenon-native/where holds the prefix it was installed for |
| tenon-old 1.0 | noarch: wants tenon-lab <2 |
"""

import bz2
import hashlib
import io
import json
import os
import platform
import subprocess
import sys
import tarfile

PLACEHOLDER = "/opt/placeholder_" + "_placeh" * 30
LEFT_OUT = {"test", "tests", "idlelib", "tkinter", "lib2to3", "turtledemo", "ensurepip", "__pycache__", "site-packages",
            "distutils"}
SUBDIR = "linux-aarch64" if platform.machine() == "aarch64" else "linux-64"


def interpreter_files(interpreter):
    """{path in the prefix: bytes, or ("link", target)} and the version of an interpreter."""
    ask = "import sys, sysconfig, json; print(json.dumps([sys.executable, sys.base_prefix, list(sys.version_info[:3])]))"
    program, base, version = json.loads(subprocess.check_output([interpreter, "-I", "-c", ask]))
    short = "%d.%d" % tuple(version[:2])
    files = {"bin/python%s" % short: _program(os.path.realpath(program), base),
             "bin/python3": ("link", "python%s" % short), "bin/python": ("link", "python%s" % short)}
    for name in os.listdir(base + "/lib"):
        path = "%s/lib/%s" % (base, name)
        if name.startswith("libpython%s.so" % short):
            files["lib/" + name] = ("link", os.readlink(path)) if os.path.islink(path) else _read(path)
    library = "%s/lib/python%s" % (base, short)
    for folder, folders, names in os.walk(library):
        folders[:] = [f for f in folders if f not in LEFT_OUT and not f.startswith("config-")]
        for name in names:
            path = os.path.join(folder, name)
            if not name.endswith((".pyc", ".a")) and os.path.isfile(path):
                files["lib/python%s/%s" % (short, os.path.relpath(path, library))] = _read(path)
    files["lib/python%s/site-packages/README.txt" % short] = b"Packages go here.\n"
    return files, ".".join(map(str, version))


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _program(path, base):
    """The program; where it looks for its library by a full path, it now looks beside itself."""
    data = _read(path)
    old, new = (base + "/lib").encode() + b"\0", b"$ORIGIN/../lib\0"
    return data.replace(old, new.ljust(len(old), b"\0"), 1) if len(new) <= len(old) else data


class Channel:
    def __init__(self, folder):
        self.folder = folder
        self.packages = {SUBDIR: {}, "noarch": {}}

    def add(self, name, version, files, depends=(), noarch=None, placeholders=(), build="0"):
        subdir = "noarch" if noarch else SUBDIR
        index = {"name": name, "version": version, "build": build, "build_number": 0, "depends": list(depends),
                 "subdir": subdir, "license": "Apache-2.0", "timestamp": 1600000000000}
        if noarch:
            index["noarch"] = noarch
        paths = []
        for path in sorted(files):
            value = files[path]
            if isinstance(value, tuple):
                paths.append({"_path": path, "path_type": "softlink", "sha256": hashlib.sha256(b"").hexdigest(),
                              "size_in_bytes": 0})
                continue
            entry = {"_path": path, "path_type": "hardlink", "sha256": hashlib.sha256(value).hexdigest(),
                     "size_in_bytes": len(value)}
            if path in placeholders:
                entry.update(prefix_placeholder=PLACEHOLDER, file_mode="text")
            paths.append(entry)
        info = {"info/index.json": index, "info/paths.json": {"paths": paths, "paths_version": 1},
                "info/about.json": {"summary": "made by tests"}}
        if noarch == "python":
            info["info/link.json"] = {"noarch": {"type": "python"}, "package_metadata_version": 1}
        everything = {path: json.dumps(value).encode() for path, value in info.items()}
        everything["info/files"] = "".join(path + "\n" for path in sorted(files)).encode()
        everything.update(files)
        data = bz2.compress(_tar(everything), 1)
        file_name = "%s-%s-%s.tar.bz2" % (name, version, build)
        os.makedirs(os.path.join(self.folder, subdir), exist_ok=True)
        with open(os.path.join(self.folder, subdir, file_name), "wb") as file:
            file.write(data)
        self.packages[subdir][file_name] = dict(index, md5=hashlib.md5(data).hexdigest(),
                                                sha256=hashlib.sha256(data).hexdigest(), size=len(data))

    def write(self):
        for subdir, packages in self.packages.items():
            os.makedirs(os.path.join(self.folder, subdir), exist_ok=True)
            with open(os.path.join(self.folder, subdir, "repodata.json"), "w", encoding="utf-8") as file:
                json.dump({"info": {"subdir": subdir}, "packages": packages, "packages.conda": {}, "repodata_version": 1},
                          file)


def _tar(files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for path, value in files.items():
            member = tarfile.TarInfo(path)
            member.mtime = 1600000000
            if isinstance(value, tuple):
                member.type, member.linkname = tarfile.SYMTYPE, value[1]
                archive.addfile(member)
                continue
            member.size = len(value)
            member.mode = 0o755 if path.startswith("bin/") or ".so" in path else 0o644
            archive.addfile(member, io.BytesIO(value))
    return data.getvalue()


def build(folder, interpreter=sys.executable):
    """Makes the channel; its address is "file://" + folder."""
    channel = Channel(folder)
    files, version = interpreter_files(interpreter)
    channel.add("python", version, files)
    for number in ("1.0", "2.0"):
        module = '__version__ = "%s"\n' % number
        channel.add("tenon-lab", number, {"site-packages/tenon_lab.py": module.encode()}, ["python"], "python", build="py_0")
    channel.add("tenon-native", "1.0", {"share/tenon-native/where": PLACEHOLDER.encode() + b"\n"},
                placeholders=["share/tenon-native/where"])
    channel.add("tenon-old", "1.0", {"site-packages/tenon_old.py": b"x = 1\n"}, ["python", "tenon-lab <2"], "python",
                build="py_0")
    channel.write()
    return "file://" + folder


if __name__ == "__main__":
    print(build(os.path.abspath(sys.argv[1]), *sys.argv[2:3]))
