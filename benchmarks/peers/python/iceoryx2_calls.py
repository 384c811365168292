#!/usr/bin/env python3
"""iceoryx2 by its Python package: request-response over loaned memory. Both sides poll; with --events they sleep."""
import ctypes
import glob
import importlib.metadata
import os
import shutil
import tempfile

import iceoryx2 as iox2

import peer

OPERATIONS = ("touch", "sum", "process", "hang")
SHORT = 4096
UNDER_WAY = 1000
REQUEST = iox2.Slice[ctypes.c_uint8]  # the number of the operation, then the argument


class ends:
    """The services of one side: calls, and one for long arguments, whose memory is as large as they are."""

    def __init__(self, config, events):
        iox2.set_log_level(iox2.LogLevel.Error)
        self.node = iox2.NodeBuilder.new().config(config).create(iox2.ServiceType.Ipc)
        self.calls = self.service("calls", UNDER_WAY)
        self.blocks = self.service("blocks", 1)
        self.events = events
        if events:
            self.requests = self.event("requests")
            self.answers = self.event("answers")

    def service(self, name, under_way):
        return (self.node.service_builder(iox2.ServiceName.new(name)).request_response(REQUEST, ctypes.c_uint64)
                .max_active_requests_per_client(under_way).max_loaned_requests(under_way).max_clients(1).max_servers(1)
                .open_or_create())

    def event(self, name):
        return self.node.service_builder(iox2.ServiceName.new(name)).event().open_or_create()


def serve(config, events, ready):
    own = ends(config, events)
    servers = [service.server_builder().create() for service in (own.calls, own.blocks)]
    if events:
        listener, notifier = own.requests.listener_builder().create(), own.answers.notifier_builder().create()
    os.write(ready, b"r")
    while True:
        if events:
            listener.blocking_wait()
        answered = True
        while answered:
            answered = False
            for server in servers:
                request = server.receive()
                if request is None:
                    continue
                bytes_ = request.payload().as_memory_view().cast("B")
                request.send_copy(ctypes.c_uint64(peer.execute(OPERATIONS[bytes_[0]], bytes_[1:])))
                del bytes_
                request.delete()
                answered = True
                if events:
                    notifier.notify()


class client:
    def __init__(self, config, events):
        self.own = ends(config, events)
        self.calls = (self.own.calls.client_builder().initial_max_slice_len(SHORT + 1).create())
        self.blocks = (self.own.blocks.client_builder().initial_max_slice_len(peer.MAX_BYTES + 1).create())
        if events:
            self.notifier = self.own.requests.notifier_builder().create()
            self.listener = self.own.answers.listener_builder().create()

    def send(self, what, argument):
        sender = self.calls if len(argument) <= SHORT else self.blocks
        request = sender.loan_slice_uninit(len(argument) + 1)
        at = request.payload().as_ptr()
        ctypes.c_uint8.from_address(at).value = OPERATIONS.index(what)
        ctypes.memmove(at + 1, argument, len(argument))
        pending = request.assume_init().send()
        if self.own.events:
            self.notifier.notify()
        return pending

    def receive(self, pending):
        while (answer := pending.receive()) is None:
            if self.own.events:
                self.listener.blocking_wait()
        value = answer.payload().contents.value
        answer.delete()
        pending.delete()
        return value

    def call(self, what, argument):
        return self.receive(self.send(what, argument))

    def call_many(self, count):
        pending = [self.send("touch", b"") for _ in range(count)]
        return sum(self.receive(one) for one in pending)


def start_server(config, given):
    """In a forked child; returns when it is ready."""
    ready, announce = os.pipe()
    if os.fork() == 0:
        peer.end_with_parent()
        peer.pin_to(given.server_core)
        try:
            serve(config, given.events, announce)
        finally:
            os._exit(1)
    os.close(announce)
    if os.read(ready, 1) != b"r":
        raise SystemExit("iceoryx2: the server did not start")


def main():
    given = peer.parse()
    folder = tempfile.mkdtemp(prefix="ham-iceoryx2-")
    prefix = f"ham_peers_{os.getpid()}_"
    config = iox2.config.default()
    config.global_cfg.root_path = iox2.Path.new(folder)
    config.global_cfg.prefix = iox2.FileName.new(prefix)

    def remove():
        shutil.rmtree(folder, ignore_errors=True)
        for path in glob.glob(f"/dev/shm/{prefix}*"):
            os.unlink(path)

    peer.at_end.append(remove)
    try:
        start_server(config, given)
        peer.pin_to(given.client_core)
        name = "iceoryx2_events" if given.events else "iceoryx2"
        how = "request-response, loaned slices, " + ("events wake both sides" if given.events else "both sides poll")
        peer.run_client(client(config, given.events), (name, importlib.metadata.version("iceoryx2"), how), given)
    finally:
        remove()
    os._exit(0)  # the server ends with this process


if __name__ == "__main__":
    main()
