# SPDX-License-Identifier: Apache-2.0
"""What a runner takes for the machine when it looks who uses it (TENON_TEST_MACHINE_ROOT): nobody does, whoever is logged in
where the tests run, until a test says otherwise."""

import shutil
import tempfile
from pathlib import Path


class QuietMachine:
    def __init__(self):
        self.root = Path(tempfile.mkdtemp(prefix="tenon-quiet-", dir="/tmp"))
        self.root.chmod(0o755)
        self.add(1, "init", uid=0)
        (self.root / "etc").mkdir()
        (self.root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n")

    @property
    def variables(self):
        return {"TENON_TEST_MACHINE_ROOT": str(self.root)}

    def add(self, pid, name, uid=1000, terminal=0):
        """A process."""
        folder = self.root / "proc" / str(pid)
        folder.mkdir(parents=True)
        (folder / "status").write_text(f"Name:\t{name}\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\n")
        (folder / "cmdline").write_bytes(name.encode() + b"\0")
        (folder / "stat").write_text(f"{pid} ({name}) S 1 {pid} {pid} {terminal} -1 0\n")

    def log_in(self, pid=77):
        """ann, on pts/3."""
        self.add(pid, "bash", terminal=136 << 8 | 3)

    def use_gpu(self, pid=4711):
        """A process of ann's on the second of two GPUs."""
        self.add(pid, "python")
        program = self.root / "usr/bin/nvidia-smi"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\ncase \"$1\" in\n*compute-apps*) [ -d {self.root}/proc/{pid} ] && echo '{pid}, python3, GPU-b'; "
                           "exit 0;;\n*) echo 'GPU-a, 0'; echo 'GPU-b, 1';;\nesac\n")
        program.chmod(0o755)

    def end(self, pid):
        shutil.rmtree(self.root / "proc" / str(pid))

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)

