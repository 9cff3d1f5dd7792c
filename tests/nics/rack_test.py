"""Runs a script on this machine, which reaches several guests by ssh (tools/nic-rack), and keeps
what it wrote."""
import guest
import rack

LIMIT_S = 560  # guests beside each other start slowly

# What the scripts share, besides guest.TOOLS
TOOLS = r"""
# on MACHINE COMMAND...: runs it there
on() { ssh -F $RACK "$@"; }
"""


class RackTest(guest.GuestTest):
    """Guests for all tests of a class: SCRIPT runs on this machine once, while they run."""
    CABLES = []
    FULL_ONLY = True

    @classmethod
    def run_script(cls, programs):
        return rack.run(cls.CABLES, guest.TOOLS + TOOLS + cls.SCRIPT, cls.files, programs,
                        LIMIT_S, memory_mib=1024, **cls.MACHINE)
