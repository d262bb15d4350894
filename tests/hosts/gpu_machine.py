# SPDX-License-Identifier: Apache-2.0
"""A machine that looks as if it had an NVIDIA GPU, for one program: a mount namespace of its own."""

import os
import stat

NODES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0), "ptmx": (5, 2)}


class GpuMachine:
    """`prefix` goes in front of a program that is to see the machine, `path` in front of its PATH. Needs root."""

    def __init__(self, folder, gpu=True, driver=True, toolkit=True):
        folder.mkdir()
        devices, programs, pci = (folder / n for n in ("dev", "bin", "pci"))
        for made in (devices, programs, pci):
            made.mkdir()
        for name, (major, minor) in NODES.items():
            os.mknod(devices / name, 0o666 | stat.S_IFCHR, os.makedev(major, minor))
            os.chmod(devices / name, 0o666)
        (devices / "fd").symlink_to("/proc/self/fd")
        for name in ("shm", "pts"):
            (devices / name).mkdir()
        if gpu:
            card = pci / "0000:01:00.0"
            card.mkdir()
            (card / "vendor").write_text("0x10de\n")
            (card / "class").write_text("0x030200\n")
        if driver:
            (devices / "nvidiactl").touch()
            (devices / "nvidia0").touch()
        if toolkit:
            hook = programs / "nvidia-container-runtime-hook"
            hook.write_text("#!/bin/sh\n")
            hook.chmod(0o755)
        self.path = str(programs)
        mounts = f"mount --bind {devices} /dev"
        if os.path.isdir("/sys/bus/pci/devices"):
            mounts += f" && mount --bind {pci} /sys/bus/pci/devices"
        elif gpu:
            # A virtual machine without a PCI bus: the device file has to do.
            (devices / "nvidia0").touch()
        self.prefix = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mounts + ' && exec "$@"', "sh"]
