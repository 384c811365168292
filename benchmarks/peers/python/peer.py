"""What the peers in Python share: protocol, measurements and options as in ../common, in Python."""
import argparse
import ctypes
import json
import os
import signal
import statistics
import sys
import threading
import time

MAX_BYTES = 64 << 20
BUDGET_S = 0.06  # for one kind of call, in one repetition
HANG_LIMIT_S = 3.0
PR_SET_PDEATHSIG = 1

at_end = []  # functions that remove what the peer leaves on the machine


def leave(status):
    """Ends the program at once: what hangs cannot be ended in an orderly way."""
    for function in at_end:
        function()
    os._exit(status)


def pin_to(core):
    """Keeps this process, and what it starts from now on, on one core."""
    for thread in os.listdir("/proc/self/task"):
        try:
            os.sched_setaffinity(int(thread), {core})
        except OSError:
            pass  # the thread has ended


def end_with_parent():
    """The calling process is killed when its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def execute(what, argument):
    """The functions of the server."""
    if what == "touch":
        return 1 + len(argument) + (argument[0] + argument[-1] if len(argument) else 0)
    if what == "sum":
        return sum(argument)
    if what == "process":
        return os.getpid()
    while True:  # hang
        signal.pause()


def expect(found, wanted, of):
    if found != wanted:
        raise RuntimeError(f"wrong answer to {of}: {found} instead of {wanted}")


def make_argument(size):
    line = bytes(range(256)) * 16
    return (line * (size // len(line) + 1))[:size]


def time_calls(client, argument):
    """Seconds of one call: the median of batches."""
    wanted = execute("touch", argument)

    def batch(calls):
        begin = time.perf_counter()
        total = sum(client.call("touch", argument) for _ in range(calls))
        seconds = time.perf_counter() - begin
        expect(total, wanted * calls, "a call")
        return seconds / calls

    calls = 1
    begin = time.perf_counter()
    while time.perf_counter() - begin < BUDGET_S / 5:
        calls = max(1, min(1024, int(1e-3 / batch(calls))))
    times = []
    begin = time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begin < BUDGET_S:
        times.append(batch(calls))
    return statistics.median(times)


def rate_of_calls(client, under_way):
    def once():
        begin = time.perf_counter()
        total = client.call_many(under_way)
        seconds = time.perf_counter() - begin
        expect(total, under_way, "calls under way")
        return under_way / seconds

    once()
    rates = []
    begin = time.perf_counter()
    while not rates or time.perf_counter() - begin < BUDGET_S:
        rates.append(once())
    return statistics.median(rates)


def time_transfer(client, block):
    wanted = execute("touch", block)
    expect(client.call("touch", block), wanted, "a transfer")
    times = []
    start = time.perf_counter()
    while not times or time.perf_counter() - start < BUDGET_S:
        begin = time.perf_counter()
        answer = client.call("touch", block)
        times.append(time.perf_counter() - begin)
        expect(answer, wanted, "a transfer")
    return statistics.median(times)


def processor_time(process):
    """Seconds that a process has used."""
    with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle_percent(client):
    server = client.call("process", b"")
    time.sleep(0.2)
    begin, before = time.perf_counter(), processor_time(server)
    time.sleep(1.0)
    return 100 * (processor_time(server) - before) / (time.perf_counter() - begin)


def check(client):
    for size in (0, 1, 1024, 100_000, MAX_BYTES):
        argument = make_argument(size)
        for what in ("touch", "sum"):
            expect(client.call(what, argument), execute(what, argument), f"a call with {size} bytes")
    for count in (1, 7, 1000, 1000):
        expect(client.call_many(count), count, "calls under way")
    if client.call("process", b"") == os.getpid():
        raise RuntimeError("the server is this process")


def measure(client, given, result):
    small, large = make_argument(1024), make_argument(MAX_BYTES)
    found = {"empty_us": [], "kib_us": [], "rate_million_per_s": [], "transfer_gb_per_s": []}
    for _ in range(given.repetitions):
        found["empty_us"].append(time_calls(client, b"") * 1e6)
        found["kib_us"].append(time_calls(client, small) * 1e6)
        found["rate_million_per_s"].append(rate_of_calls(client, 1000) * 1e-6)
        found["transfer_gb_per_s"].append(MAX_BYTES * 1e-9 / time_transfer(client, large))
    result.update({name: statistics.median(values) for name, values in found.items()})
    if not given.no_idle:
        result["idle_percent"] = idle_percent(client)


def show(result, given):
    text = json.dumps(result) if given.json else ", ".join(f"{key}: {value}" for key, value in result.items())
    print(text, flush=True)


def measure_death(client, given, result):
    """Kills the server in mid-call and prints what the caller learns. Does not return."""
    server = client.call("process", b"")
    show({"death": "begun"}, given)
    killed = []
    printing = threading.Lock()

    def kill():
        time.sleep(0.1)
        killed.append(time.perf_counter())
        os.kill(server, signal.SIGKILL)
        time.sleep(HANG_LIMIT_S)
        with printing:
            show({**result, "death": "hangs"}, given)
            leave(0)

    threading.Thread(target=kill, daemon=True).start()
    try:
        error = f"answered: {client.call('hang', b'')}"
    except BaseException as failure:  # whatever the peer throws
        error = f"{type(failure).__name__}: {failure}".split("\n", maxsplit=1)[0]
    end = time.perf_counter()
    with printing:
        if killed:
            result.update(death="error", error=error, error_ms=(end - killed[0]) * 1e3)
        else:
            result.update(death="failed", error=error)
        show(result, given)
        leave(0 if killed else 1)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-idle", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--death", action="store_true")
    parser.add_argument("--events", action="store_true", help="iceoryx2 only: sleep instead of polling")
    usable = sorted(os.sched_getaffinity(0))
    parser.add_argument("--cores", default=f"{usable[0]},{usable[min(1, len(usable) - 1)]}")
    given = parser.parse_args()
    given.client_core, given.server_core = (int(core) for core in given.cores.split(","))
    return given


def run_client(client, description, given):
    """The client, once it is connected. `description` has name, version and how."""
    signal.alarm(120)
    result = dict(zip(("peer", "version", "how"), description))
    if given.death:
        measure_death(client, given, result)
    if given.check:
        check(client)
        result["check"] = "ok"
    else:
        measure(client, given, result)
    show(result, given)
    sys.stdout.flush()
