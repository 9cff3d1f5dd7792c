"""Which QEMU a guest runs under. The system's is Debian 12's, 7.2, which lacks igb; Debian 13's is
unpacked into a cache and runs from there, with its own libraries. Nothing of it is installed."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import kernel

SUITE = "trixie"
FIRST_WITH_IGB = 8
LIBRARIES = "usr/lib/x86_64-linux-gnu"


def folder():
    return kernel.cache() / f"qemu-{SUITE}"


def system_version():
    """Returns the major version of the system's QEMU, 0 if there is none."""
    if shutil.which("qemu-system-x86_64") is None:
        return 0
    found = re.search(r"version (\d+)", kernel.run("qemu-system-x86_64", "-version"))
    return int(found.group(1)) if found else 0


def command(newer):
    """Returns the words that start QEMU. @param newer whether 7.2 is too old for the guest"""
    version = system_version()
    if version == 0:
        raise kernel.Missing("QEMU is missing; tools/setup --nics installs it")
    if not newer or version >= FIRST_WITH_IGB:
        return ["qemu-system-x86_64"]
    root = folder()
    if not root.is_dir():
        raise kernel.Missing(f"QEMU {version} lacks igb, and a newer one is not in {root}; "
                             "tools/setup --nics puts it there")
    return [str(root / "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", str(root / LIBRARIES),
            str(root / "usr/bin/qemu-system-x86_64"), "-L", str(root / "usr/share/qemu"),
            "-L", str(root / "usr/share/seabios")]


def mirror():
    """Returns where apt has Debian's packages from on this machine."""
    found = kernel.run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian",
                       "Label: Debian", "Created-By: Packages").split()
    if not found:
        raise kernel.Missing("apt has no mirror of Debian's, where a newer QEMU could be fetched")
    return found[0]


def fetch():
    """Unpacks the newer QEMU into the cache. Raises kernel.Missing."""
    if shutil.which("mmdebstrap") is None:
        raise kernel.Missing("mmdebstrap is missing; tools/setup --nics installs it")
    kernel.cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kernel.cache()) as work:
        tree = pathlib.Path(work) / "tree"
        # Extracting runs no script of any package, so it needs neither root nor a namespace.
        kernel.run("mmdebstrap", "--variant=extract", "--mode=chrootless",
                   "--include=qemu-system-x86", "--dpkgopt=path-exclude=/usr/share/doc/*",
                   SUITE, tree, mirror())
        tree.rename(folder())


def main():
    """For tools/setup: fetches the newer QEMU if guests with igb need it here."""
    if system_version() >= FIRST_WITH_IGB or folder().is_dir():
        return 0
    print(f"tools/setup: unpacking QEMU of Debian's {SUITE} into {folder()}", flush=True)
    try:
        fetch()
    except (kernel.Missing, subprocess.SubprocessError, OSError) as error:
        print(f"tools/setup: no QEMU for igb: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
