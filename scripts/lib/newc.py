# SPDX-License-Identifier: GPL-2.0
"""Writer of the "newc" cpio format, which the kernel unpacks as an initramfs.

No compression: loading is a copy, and QEMU is given the concatenation of a
folder built once and of the files of one run.
"""
import os
import stat


class Archive:
    def __init__(self, out):
        self.out = out
        self.ino = 1
        self.dirs = set()

    def entry(self, name, mode, data=b"", rdev=(0, 0), ino=None):
        """One member; data is bytes."""
        self.ino += 1
        raw = name.lstrip("/").encode() + b"\0"
        fields = (ino or self.ino, mode, 0, 0, 1, 0, len(data), 0, 0,
                  rdev[0], rdev[1], len(raw), 0)
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + raw
        self.out.write(head + b"\0" * (-len(head) % 4))
        self.out.write(data + b"\0" * (-len(data) % 4))

    def folder(self, name, mode=0o755):
        name = name.strip("/")
        if not name or name in self.dirs:
            return
        self.folder(os.path.dirname(name))
        self.dirs.add(name)
        self.entry(name, stat.S_IFDIR | mode)

    def file(self, name, data, mode=0o644):
        self.folder(os.path.dirname(name))
        self.entry(name, stat.S_IFREG | mode, data)

    def link(self, name, target):
        self.folder(os.path.dirname(name))
        self.entry(name, stat.S_IFLNK | 0o777, target.encode())

    def device(self, name, major, minor, mode=0o600):
        self.folder(os.path.dirname(name))
        self.entry(name, stat.S_IFCHR | mode, b"", (major, minor))

    def copy(self, src, name):
        """A file or a whole folder of the host, links followed."""
        if os.path.isdir(src):
            self.folder(name)
            for sub in sorted(os.listdir(src)):
                self.copy(os.path.join(src, sub), os.path.join(name, sub))
            return
        with open(src, "rb") as f:
            data = f.read()
        mode = 0o755 if os.access(src, os.X_OK) else 0o644
        self.file(name, data, mode)

    def close(self):
        self.entry("TRAILER!!!", 0)
        self.out.flush()
        # A following archive must start at a multiple of four bytes.
        self.out.write(b"\0" * (-self.out.tell() % 512))
