#!/usr/bin/python3
"""One end of a reliable connection of RoCEv2 that is Linux's rdma_rxe, by the verbs of rdma-core.

It writes its numbers into OWN (queue pair, first PSN, key and address of its memory) and waits for
those of the peer in PEER, so that the peer may be anything that speaks RoCEv2. A sender sends COUNT
messages of BYTES, each to its own place in the peer's memory; the immediate of message i is i. A
receiver compares every byte of its memory with what should be there, beside it too. It writes JSON
with what it found; the exit status is 0 if all is right."""
import argparse
import array
import json
import os
import pathlib
import signal
import socket
import sys
import time

from pyverbs import enums
from pyverbs.addr import AHAttr, GID, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import RecvWR, SendWR, SGE

PORT = 1
GUARD_BYTES = 4096  # before and after what the peer may write
UNTOUCHED = b"\xa5"
WEYL = 0x9E3779B1
TIMEOUT = 18  # of 4.096 us times a power of two: 1.07 s, longer than a guest's pauses


def pattern(size):
    """Returns what docs/linux-hosts.md calls the pattern."""
    words = range(1, size // 4 + 2)
    return array.array("I", [(w * WEYL) & 0xFFFFFFFF for w in words]).tobytes()[:size]


def gid_text(ipv4):
    """Returns the GID of an IPv4 address, as pyverbs writes it."""
    a, b, c, d = (int(part) for part in ipv4.split("."))
    return f"0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}"


def gid_index(context, ipv4):
    for index in range(8):
        if context.query_gid(PORT, index).gid == gid_text(ipv4):
            return index
    sys.exit(f"the device has no GID of {ipv4}")


class End:
    def __init__(self, options):
        self.options = options
        self.bytes = options.bytes * options.count
        self.context = Context(name=options.device)
        self.pd = PD(self.context)
        self.cq = CQ(self.context, options.count + 1)
        self.mr = MR(self.pd, self.bytes + 2 * GUARD_BYTES,
                     enums.IBV_ACCESS_LOCAL_WRITE | enums.IBV_ACCESS_REMOTE_WRITE)
        self.begin = self.mr.buf + GUARD_BYTES
        self.mr.write(UNTOUCHED * (self.bytes + 2 * GUARD_BYTES), self.bytes + 2 * GUARD_BYTES)
        cap = QPCap(max_send_wr=options.count, max_recv_wr=options.count, max_send_sge=1,
                    max_recv_sge=1)
        self.qp = QP(self.pd, QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=self.cq, rcq=self.cq,
                                         cap=cap))

    def numbers(self):
        return {"host": self.options.address, "queue_pair": self.qp.qp_num,
                "first_psn": self.options.first_psn, "key": self.mr.rkey, "address": self.begin}

    def connect(self, peer):
        attr = QPAttr(port_num=PORT)
        attr.qp_access_flags = enums.IBV_ACCESS_LOCAL_WRITE | enums.IBV_ACCESS_REMOTE_WRITE
        self.qp.to_init(attr)
        if self.options.role == "receive":
            for i in range(self.options.count):
                self.qp.post_recv(RecvWR(wr_id=i, num_sge=1, sg=[self.place(i)]))
        route = GlobalRoute(dgid=GID(gid_text(peer["host"])),
                            sgid_index=gid_index(self.context, self.options.address))
        route.traffic_class = self.options.traffic_class
        attr.ah_attr = AHAttr(port_num=PORT, is_global=1, gr=route)
        attr.path_mtu = enums.IBV_MTU_1024
        attr.dest_qp_num = peer["queue_pair"]
        attr.rq_psn, attr.sq_psn = peer["first_psn"], self.options.first_psn
        attr.max_dest_rd_atomic = attr.max_rd_atomic = 1
        attr.min_rnr_timer, attr.timeout = 12, TIMEOUT
        attr.retry_cnt = attr.rnr_retry = 7
        self.qp.to_rtr(attr)
        self.qp.to_rts(attr)

    def place(self, i):
        """Returns where message i is, here."""
        return SGE(self.begin + i * self.options.bytes, self.options.bytes, self.mr.lkey)

    def completions(self):
        """Waits for those of all messages."""
        done = []
        while len(done) < self.options.count:
            _, some = self.cq.poll(self.options.count)
            done += some
            time.sleep(0 if some else 0.01)
        return done

    def send(self, peer):
        self.mr.write(pattern(self.bytes), self.bytes, GUARD_BYTES)
        write = self.options.operation == "write"
        opcode = enums.IBV_WR_RDMA_WRITE_WITH_IMM if write else enums.IBV_WR_SEND_WITH_IMM
        for i in range(self.options.count):
            request = SendWR(wr_id=i, opcode=opcode, num_sge=1, sg=[self.place(i)], imm_data=socket.htonl(i),
                             send_flags=enums.IBV_SEND_SIGNALED)
            if write:
                request.set_wr_rdma(peer["key"], peer["address"] + i * self.options.bytes)
            self.qp.post_send(request)
        return {"statuses": [c.status for c in self.completions()]}

    def receive(self):
        done = self.completions()
        memory = self.mr.read(self.bytes + 2 * GUARD_BYTES, 0)
        inside, guards = memory[GUARD_BYTES:-GUARD_BYTES], (memory[:GUARD_BYTES],
                                                           memory[-GUARD_BYTES:])
        expected = bytes(self.bytes) if self.options.expect == "zeros" else pattern(self.bytes)
        wrong = 0 if inside == expected else sum(a != b for a, b in zip(inside, expected))
        return {"statuses": [c.status for c in done], "immediates": [socket.ntohl(c.imm_data) for c in done],
                "compared_bytes": len(inside), "wrong_bytes": wrong,
                "guards_untouched": all(g == UNTOUCHED * GUARD_BYTES for g in guards)}


def put(path, content):
    """Writes a file that is whole as soon as it is there."""
    path.with_suffix(".new").write_text(json.dumps(content) + "\n")
    os.replace(path.with_suffix(".new"), path)


def awaited(path):
    while not path.exists():
        time.sleep(0.1)
    return json.loads(path.read_text())


def is_right(found):
    return (all(s == enums.IBV_WC_SUCCESS for s in found["statuses"]) and
            found.get("wrong_bytes", 0) == 0 and found.get("guards_untouched", True))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("role", choices=("send", "receive"))
    parser.add_argument("device", help="of rdma_rxe")
    parser.add_argument("address", help="IPv4 address of this end")
    parser.add_argument("own", type=pathlib.Path, metavar="OWN")
    parser.add_argument("peer", type=pathlib.Path, metavar="PEER")
    parser.add_argument("--operation", choices=("write", "send"), default="write")
    parser.add_argument("--bytes", type=int, default=65536, help="of a message")
    parser.add_argument("--count", type=int, default=16, help="of messages")
    parser.add_argument("--first-psn", type=int, default=0xFFFFF0)  # PSNs wrap soon
    parser.add_argument("--expect", choices=("pattern", "zeros"), default="pattern")
    parser.add_argument("--traffic-class", type=int, default=2, help="TOS byte (default: ECT(0))")
    parser.add_argument("--limit", type=int, default=120, metavar="SECONDS")
    return parser.parse_args()


def main():
    options = arguments()
    signal.alarm(options.limit)
    end = End(options)
    put(options.own, end.numbers())
    peer = awaited(options.peer)
    end.connect(peer)
    print("connected", flush=True)
    found = end.send(peer) if options.role == "send" else end.receive()
    print(json.dumps(found), flush=True)
    return 0 if is_right(found) else 1


if __name__ == "__main__":
    sys.exit(main())
