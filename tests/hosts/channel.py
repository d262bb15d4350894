# SPDX-License-Identifier: Apache-2.0
"""A conda channel in a folder, with packages made here: no public channel is asked.

    with_channel = Channel(folder)
    with_channel.add_python("3.11")              # a stand-in that borrows /usr/bin/python3 of wherever it is installed
    with_channel.add_module("tenon-conda-demo", "1.0", depends=["python"])
    with_channel.write()
    with_channel.url                             # file://…
"""

import bz2
import hashlib
import io
import json
import tarfile


class Channel:
    def __init__(self, folder):
        self.folder = folder
        self._index = {"noarch": {}, "linux-64": {}}
        for name in self._index:
            (folder / name).mkdir(parents=True)

    @property
    def url(self):
        return f"file://{self.folder}"

    def add_python(self, version):
        """A Python that is the machine's own, as a virtual environment's is: pip and modules go below its own prefix."""
        minor = ".".join(version.split(".")[:2])
        links = {"bin/python": "/usr/bin/python3", "bin/python3": "python", f"bin/python{minor}": "python"}
        files = {"pyvenv.cfg": f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {version}\n",
                 f"lib/python{minor}/site-packages/README.txt": "modules\n"}
        self.add("python", version, "linux-64", files, links)

    def add_module(self, name, version, depends=("python",), code=""):
        """One Python module, good for every platform and every Python."""
        module = name.replace("-", "_")
        self.add(name, version, "noarch", {f"site-packages/{module}.py": f'__version__ = "{version}"\n{code}'},
                 depends=depends, noarch="python")

    def add(self, name, version, platform, files, links=None, depends=(), noarch=None):
        index = {"name": name, "version": version, "build": "0", "build_number": 0, "depends": list(depends),
                 "arch": None if platform == "noarch" else "x86_64",
                 "platform": None if platform == "noarch" else "linux", "subdir": platform, "license": "Apache-2.0",
                 "timestamp": 1600000000000}
        if noarch:
            index["noarch"] = noarch
        paths = [{"_path": path, "path_type": "hardlink", "sha256": hashlib.sha256(text.encode()).hexdigest(),
                  "size_in_bytes": len(text.encode())} for path, text in sorted(files.items())]
        paths += [{"_path": path, "path_type": "softlink", "sha256": hashlib.sha256(b"").hexdigest(), "size_in_bytes": 0}
                  for path in sorted(links or {})]
        info = {"info/index.json": json.dumps(index), "info/paths.json": json.dumps({"paths": paths, "paths_version": 1}),
                "info/files": "".join(p["_path"] + "\n" for p in paths)}
        if noarch:
            info["info/link.json"] = json.dumps({"noarch": {"type": noarch}, "package_metadata_version": 1})
        data = _package({**info, **files}, links or {})
        file_name = f"{name}-{version}-0.tar.bz2"
        (self.folder / platform / file_name).write_bytes(data)
        self._index[platform][file_name] = {
            **index, "md5": hashlib.md5(data).hexdigest(), "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}

    def write(self):
        for platform, packages in self._index.items():
            (self.folder / platform / "repodata.json").write_text(json.dumps(
                {"info": {"subdir": platform}, "packages": packages, "packages.conda": {}, "removed": [],
                 "repodata_version": 1}))
        return self


def _package(files, links):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for path, text in files.items():
            info = tarfile.TarInfo(path)
            info.size, info.mode, info.mtime = len(text.encode()), 0o644, 1600000000
            tar.addfile(info, io.BytesIO(text.encode()))
        for path, target in links.items():
            info = tarfile.TarInfo(path)
            info.type, info.linkname, info.mtime = tarfile.SYMTYPE, target, 1600000000
            tar.addfile(info)
    return bz2.compress(raw.getvalue())
