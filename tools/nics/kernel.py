"""A guest's kernel and initramfs, made of Debian's packages. Nothing is installed: the kernel's
package is fetched and unpacked into a cache, and used again from there."""
import os
import pathlib
import shutil
import subprocess
import tempfile

# What the guest needs before it sees the machine's file system, in the order of loading. Later
# ones are found by modprobe.
FIRST_MODULES = ["virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev",
                 "virtio_pci", "netfs", "fscache", "9pnet", "9p", "9pnet_virtio", "overlay"]
HERE = pathlib.Path(__file__).resolve().parent


class Missing(Exception):
    """Something that the machine lacks, with the command that mends it."""


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "outrider" / "nic-machine"


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False,
                          **options)
    if done.returncode != 0:
        raise Missing(f"{' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def package_name():
    """The package of Debian's generic kernel, e.g. linux-image-6.1.0-56-amd64. The cloud kernel
    has neither 9p nor the drivers of NICs."""
    for line in run("apt-cache", "depends", "linux-image-amd64").splitlines():
        words = line.split()
        if words[:1] == ["Depends:"] and words[1].startswith("linux-image-"):
            return words[1]
    raise Missing("no linux-image-amd64 in apt's lists; apt-get update fetches them")


def unpacked():
    """Returns the folder of the unpacked package and the kernel's release."""
    for tool in ("apt-get", "dpkg-deb", "depmod", "cpio", "busybox"):
        if shutil.which(tool) is None:
            raise Missing(f"{tool} is missing; tools/setup --nics installs what is needed")
    name = package_name()
    release = name.removeprefix("linux-image-")
    folder = cache() / name
    if folder.is_dir():
        return folder, release
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as work:
        work = pathlib.Path(work)
        work.chmod(0o755)  # apt fetches as a user of its own where it can
        run("apt-get", "download", "-q", name, cwd=work)
        [package] = work.glob("*.deb")
        run("dpkg-deb", "-x", package, work / "tree")
        run("depmod", "-b", work / "tree", release)
        (work / "tree").rename(folder)
    return folder, release


def initramfs(folder, release, to):
    """Writes the archive that the kernel starts with: busybox, the first modules and init."""
    modules = {m.name.removesuffix(".ko").replace("-", "_"): m
               for m in (folder / "lib/modules" / release).rglob("*.ko")}
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for part in ("bin", "modules", "proc", "sys", "dev"):
            (work / part).mkdir()
        shutil.copy(shutil.which("busybox"), work / "bin/busybox")
        shutil.copy(HERE / "init", work / "init")
        for i, module in enumerate(FIRST_MODULES):
            if module in modules:  # else it is part of the kernel
                shutil.copy(modules[module], work / "modules" / f"{i:02}-{module}.ko")
        names = "\n".join(str(p.relative_to(work)) for p in sorted(work.rglob("*")))
        with open(to, "wb") as archive:
            subprocess.run(["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=work,
                           input=names.encode(), stdout=archive, check=True)


def image(folder, release):
    return folder / "boot" / f"vmlinuz-{release}"
