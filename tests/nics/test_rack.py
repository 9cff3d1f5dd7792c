#!/usr/bin/env python3
"""Two machines apart, the generator at one end of two cables and the switch at the other: the lab
drives both by ssh, as docs/testbed.md says, and leaves nothing there."""
import re
import shlex

import guest
import rack_test

DOCUMENT = guest.ROOT / "docs/testbed.md"
[REHEARSAL] = re.findall(r"^```bash\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"),
                         re.MULTILINE | re.DOTALL)

SCRIPT = f"rehearsal={shlex.quote(REHEARSAL)}" + r"""
ln -s "$root/conf" conf
kept rehearsed bash -ec "$rehearsal"
for machine in generator switch; do
  kept left-$machine on $machine 'pgrep -c outrider'
done

# A lab that is killed, once both programs run
outrider-lab run "$root/conf/experiments/quick.toml" --runtime testbed --testbed rehearsal.toml \
  --out killed --quick --filter off >killed.txt 2>&1 &
lab=$!
there='for try in {1..100}; do [[ $(pgrep -c outrider) == %s ]] && break; sleep 0.5; done'
for machine in generator switch; do
  on $machine "$(printf "$there" 1); pgrep outrider-" >before-$machine.txt
done
kill -9 $lab
for machine in generator switch; do
  on $machine "$(printf "$there" 0); pgrep -c outrider-" >after-$machine.txt || true
done
"""


class Rack(rack_test.RackTest):
    SCRIPT = SCRIPT
    CABLES = [("generator", "switch"), ("generator", "switch")]

    def test_the_documented_rehearsal_runs(self):
        self.assertEqual(self.status_of("rehearsed"), 0, self.text("rehearsed.txt"))
        self.quick_results_are_in("rehearsal")

    def test_nothing_is_left_on_the_machines(self):
        for name in ("generator", "switch"):
            self.assertEqual(self.text(f"left-{name}.txt"), "0\n")

    def test_nothing_is_left_by_a_lab_that_is_killed(self):
        for name in ("generator", "switch"):
            self.assertRegex(self.text(f"before-{name}.txt"), r"^\d+\n$")
            self.assertEqual(self.text(f"after-{name}.txt"), "0\n")


if __name__ == "__main__":
    guest.main()
