"""Runs a script in a guest with emulated NICs (tools/nic-machine) and keeps what it wrote."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "nics"))
import kernel  # noqa: E402
import machine  # noqa: E402

SKIPPED = 77
LIMIT_S = 280  # of a guest, on a machine that is busy

# What the scripts share. A busy machine makes guests slow, so they wait for words, not seconds.
# steps.log tells where a script is: what waits is one line there ("local -" ends with a function).
TOOLS = r"""
root=%(root)s
set -- $NICS
near_a=$1 far_a=$2 near_b=$3 far_b=$4

# kept NAME COMMAND...: keeps what a command says in NAME.txt and its exit status in NAME.status
kept() { local name=$1; shift; "$@" >"$name.txt" 2>&1; echo $? >"$name.status"; }

# until_says FILE WORDS: waits until a program has said that, for two minutes
until_says() {
  local - _; set +x
  for _ in {1..600}; do grep -qs "$2" "$1" && return; sleep 0.2; done
  echo "$1 never said: $2" >>failures.txt
}
# until_said_twice FILE WORDS: waits until a program has said that for the second time
until_said_twice() {
  local - _; set +x
  for _ in {1..600}; do [[ $(grep -cs "$2" "$1") -ge 2 ]] && return; sleep 0.2; done
  echo "$1 never said again: $2" >>failures.txt
}
# ended NAME PID: waits for a program's end, for a minute, and keeps its exit status
ended() {
  local - _; set +x
  for _ in {1..300}; do kill -0 "$2" 2>/dev/null || break; sleep 0.2; done
  kill -9 "$2" 2>/dev/null && echo "$1 did not end" >>failures.txt
  # Not even killed: a driver of the kernel holds it
  for _ in {1..50}; do [[ $(ps -o stat= "$2") =~ ^(Z|$) ]] && break; sleep 0.2; done
  [[ $(ps -o stat= "$2") =~ ^(Z|$) ]] || { cat "/proc/$2/stack" >"$1-stack.log"; return 1; }
  wait "$2"; echo $? >"$1.status"
}
configure() {
  sed -e "s/^lcore = .*/lcore = 0/; s/0000:3b:00.0/$near_a/; s/0000:3b:00.1/$near_b/" \
    -e "s/9.5gbit/20mbit/" "$root/conf/switch/two-nics.toml" >switch.toml
  sed -e "s/^lcore = .*/lcore = 1/; s/0000:5e:00.0/$far_a/; s/0000:5e:00.1/$far_b/" \
    -e "s|\.\./models/resnet50.toml|$root/conf/models/resnet32-cifar.toml|" \
    "$root/conf/trafficgen/two-nics.toml" >trafficgen.toml
  sed -e "s/^lcore = .*/lcore = 1/; s/0000:5e:00.0/$far_a/; s/0000:5e:00.1/$far_b/" \
    "$root/conf/trafficgen/two-nics-streams.toml" >streams.toml
  cat >rack.toml <<RACK
[switch]
lcore = 0
[trafficgen]
lcore = 1
[[device]]
name = "leaf_a"
switch = "$near_a"
trafficgen = "$far_a"
[[device]]
name = "leaf_b"
switch = "$near_b"
trafficgen = "$far_b"
RACK
}
# two_ports LEFT RIGHT: prints a switch between two devices. A vCPU that is away for a second loses
# nothing.
two_ports() {
  cat <<SWITCH
lcore = 0
[[device]]
name = "left"
device = "$1"
[[device]]
name = "right"
device = "$2"
[[switch]]
name = "s"
[switch.queue]
limit_packets = 8192
[[switch.port]]
name = "left"
device = "left"
drain_rate = "100mbit"
[[switch.port]]
name = "right"
device = "right"
drain_rate = "100mbit"
SWITCH
}
# route PREFIX PORT: prints a route of the switch above
route() { printf '[[switch.route]]\nprefix = "%%s"\nport = "%%s"\n' "$@"; }
# stream_routes: prints the routes that streams take
stream_routes() { route 198.18.0.0/16 left; route 198.19.0.0/16 right; }
# stream_ends SETTING...: prints a generator at the far ends, to which streams are added
stream_ends() {
  printf '%%s\n' "$@" '[[device]]' 'name = "left"' "device = \"$far_a\"" \
    '[[device]]' 'name = "right"' "device = \"$far_b\""
}
# stream forth|back SETTING...: prints a stream from the left end to the right one, or back
stream() {
  local from=left to=right source=198.18.0.1 destination=198.19.0.1
  [[ $1 == forth ]] || from=right to=left source=198.19.0.1 destination=198.18.0.1
  printf '%%s\n' '[[stream]]' "name = \"$1\"" "device = \"$from\"" "receive_device = \"$to\"" \
    "source = \"$source\"" "destination = \"$destination\"" "${@:2}"
}
quick() {
  kept quick outrider-lab run "$root/conf/experiments/quick.toml" --runtime testbed \
    --testbed rack.toml --out quick --quick --filter off
}
# both_run [OPTION...]: starts both programs, the switch with these options too, and returns once
# packets move
both_run() {
  outrider-switch --config switch.toml --report switch.json "$@" >switch.log 2>&1 &
  switch=$!
  until_says switch.log forwarding
  outrider-trafficgen --config trafficgen.toml --report trafficgen.json >trafficgen.log 2>&1 &
  trafficgen=$!
  until_says trafficgen.log "sending from"
}
both_stop() {
  kill -INT $trafficgen $switch 2>/dev/null
  ended trafficgen $trafficgen
  ended switch $switch
}
""" % {"root": ROOT}


class GuestTest(unittest.TestCase):
    """A guest for all tests of a class: SCRIPT runs in it once, and the tests read what it left."""
    SCRIPT = ""
    MACHINE = {}
    FULL_ONLY = False  # too long for CI, whose guests share four minutes

    @classmethod
    def setUpClass(cls):
        if cls.FULL_ONLY and os.environ.get("OUTRIDER_FULL") != "1":
            print("skipped: runs in tools/test --full alone")
            sys.exit(SKIPPED)
        cls.make_folder()
        programs = os.environ.get("OUTRIDER_PROGRAMS", ROOT / "build/release/bin")
        try:
            cls.status = cls.run_script(str(programs))
        except kernel.Missing as missing:
            print(f"skipped: {missing}")
            sys.exit(SKIPPED)

    @classmethod
    def make_folder(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.files = pathlib.Path(cls._folder.name)

    @classmethod
    def run_script(cls, programs):
        """Runs it once more if the guest failed and not what runs in it, from a cause that we do not
        know.
        @param programs  folder of ours, for the PATH. @return the script's exit status"""
        for last in (False, True):
            try:
                status = machine.run(machine.Machine(**cls.MACHINE), TOOLS + cls.SCRIPT, cls.files,
                                     LIMIT_S, programs)
                why = cls.failed_device()
            except TimeoutError as error:
                # What waits for a program of ours gives up earlier, and that is a failure. One
                # guest in some forty has hung as a whole, with both processors idle.
                if last:
                    raise
                why = str(error)
            if last or why is None:
                return status
            print(f"once more, because {why}", flush=True)
            cls.tearDownClass()
            cls.make_folder()

    @classmethod
    def failed_device(cls):
        """@return what is wrong with an emulated device; None: nothing

        One virtio device in some dozens says, when it is first opened, that its queue has no
        entries. The next program that opens it finds them."""
        says = "virtqueue does not exist"
        told = [*cls.files.glob("*.txt"), *cls.files.glob("*.log")]
        if any(says in file.read_text(errors="replace") for file in told):
            return f"a device was broken: {says}"
        return None

    @classmethod
    def tearDownClass(cls):
        cls._folder.cleanup()

    def text(self, name):
        file = self.files / name
        return file.read_text(errors="replace") if file.exists() else f"no {name}"

    def status_of(self, name):
        return int(self.text(f"{name}.status"))

    def json(self, name):
        return json.loads(self.text(name))

    def finding(self, name, check):
        return next(f for f in self.json(name)["findings"] if f["check"] == check)

    def test_the_script_waited_for_nothing_in_vain(self):
        self.assertEqual(self.status, 0)
        self.assertEqual(self.text("failures.txt"), "no failures.txt",
                         self.text("switch.log") + self.text("trafficgen.log"))

    def quick_experiment_ran(self):
        self.assertEqual(self.status_of("quick"), 0, self.text("quick.txt"))
        self.quick_results_are_in("quick")

    def quick_results_are_in(self, folder):
        [case] = self.json(f"{folder}/summary.json")["cases"]
        self.assertEqual(case["label"], "off")
        reports = list((self.files / folder / "testbed").rglob("*.json"))
        self.assertTrue(reports)
        for report in reports:
            content = json.loads(report.read_text())
            if "ledger_balanced" in content:
                self.assertTrue(content["ledger_balanced"], report)


def main():
    unittest.main(verbosity=2)
