"""A process and all its children in a world of their own that ends with it.

Process ids, mounts and everything below /run are its own, so that whatever ends the process,
kill -9 included, the kernel kills what it started and frees the network namespaces, and with
them devices, filters and BPF programs. Linux; needs CAP_SYS_ADMIN.
"""
import ctypes
import os
import signal
import subprocess
import sys

CLONE_NEWNS, CLONE_NEWPID, PR_SET_PDEATHSIG = 0x00020000, 0x20000000, 1
SCRATCH = "/run/scratch"
ENDING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


def enter():
    """Returns in a child, the first process of the new world; the caller's exits with the
    child's status. Raises OSError where that is not allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS | CLONE_NEWPID) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"no namespaces of processes and mounts: {os.strerror(error)}")
    child = os.fork()
    if child != 0:
        sys.exit(status_of(child))
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for number in ENDING:
        signal.signal(number, lambda n, _: sys.exit(128 + n))
    for words in (["--make-rprivate", "/"], ["-t", "proc", "proc", "/proc"],
                  ["-t", "tmpfs", "tmpfs", "/run"]):
        subprocess.run(["mount", *words], check=True)
    os.mkdir(SCRATCH)
    os.environ["TMPDIR"] = SCRATCH


def come_first():
    """Other work of the machine shall stop nobody: a session is scheduled as a group."""
    os.setsid()
    os.nice(-19)
    try:
        with open("/proc/self/autogroup", "w", encoding="ascii") as group:
            group.write("-19")
    except OSError:
        pass  # a kernel without groups by session


def status_of(child):
    """Waits for the child; a signal to end goes on to it."""
    for number in ENDING:
        signal.signal(number, lambda n, _: os.kill(child, n))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if status >= 0 else 128 - status
