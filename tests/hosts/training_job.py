#!/usr/bin/env python3
"""Data-parallel training with a parameter server over plain TCP; nothing of Outrider in it.

training_job.py server ADDRESS PORT --profile FILE --workers W --iterations N
training_job.py worker ADDRESS PORT --profile FILE --rank R --iterations N --compute SECONDS

The profile (a file of conf/models) says how many bytes of gradient each tensor has; --scale
divides them. In an iteration a worker computes (sleeps), pushes its gradients tensor by
tensor, the last layer's first, and waits for the parameters; the server adds up everybody's
gradients and sends the parameters to all. A worker logs each iteration, with a checksum of
the parameters that it got.
"""
import argparse
import socket
import threading
import time
import tomllib
import zlib


def tensor_bytes(options):
    """In the order of the backward pass."""
    with open(options.profile, "rb") as file:
        tensors = tomllib.load(file)["tensors"]
    return [max(4, t["bytes"] // options.scale) for t in reversed(tensors)]


def receive(connection, view):
    while view:
        got = connection.recv_into(view)
        if not got:
            raise SystemExit("the other end has gone")
        view = view[got:]


def gradients(rank, iteration, size):
    """Bytes of its own for each rank and iteration."""
    block = bytes((rank * 89 + iteration * 31 + i * 7) % 251 for i in range(4096))
    return memoryview((block * (size // len(block) + 1))[:size])


def worker(options):
    tensors = tensor_bytes(options)
    parameters = bytearray(sum(tensors))
    connection = socket.create_connection((options.address, options.port))
    begun = time.monotonic()
    for iteration in range(options.iterations):
        computed = begun + options.compute
        pushed = gradients(options.rank, iteration, len(parameters))
        time.sleep(max(0, computed - time.monotonic()))
        for size in tensors:
            connection.sendall(pushed[:size])
            pushed = pushed[size:]
        receive(connection, memoryview(parameters))
        took, begun = time.monotonic() - begun, time.monotonic()
        print(f"iteration {iteration}: pushed {len(parameters)} bytes in {len(tensors)} tensors, "
              f"parameters {zlib.crc32(parameters):08x}, {1000 * took:.3f} ms", flush=True)


def server(options):
    size = sum(tensor_bytes(options))
    listener = socket.create_server((options.address, options.port))
    print("ready", flush=True)
    connections = [listener.accept()[0] for _ in range(options.workers)]
    buffers = [bytearray(size) for _ in connections]
    parameters = 0
    for _ in range(options.iterations):
        pushes = [threading.Thread(target=receive, args=(c, memoryview(b)))
                  for c, b in zip(connections, buffers)]
        for push in pushes:
            push.start()
        for push in pushes:
            push.join()
        parameters += sum(int.from_bytes(b, "little") for b in buffers)
        parameters %= 1 << (8 * size)
        answer = parameters.to_bytes(size, "little")
        pulls = [threading.Thread(target=c.sendall, args=(answer,)) for c in connections]
        for pull in pulls:
            pull.start()
        for pull in pulls:
            pull.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("role", choices=["server", "worker"])
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("--profile", required=True)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--iterations", type=int, required=True)
    parser.add_argument("--compute", type=float, default=0)
    options = parser.parse_args()
    (server if options.role == "server" else worker)(options)


if __name__ == "__main__":
    main()
