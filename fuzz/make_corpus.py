#!/usr/bin/env python3
"""Writes the seeds of the fuzzers to fuzz/corpus: small inputs that are good, or nearly so."""
import pathlib
import struct

corpus = pathlib.Path(__file__).parent / "corpus"


def seed(fuzzer, name, data):
    folder = corpus / fuzzer
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)


def u8(*values):
    return bytes(values)


def u16(value):
    return struct.pack("<H", value)


def u32(*values):
    return struct.pack(f"<{len(values)}I", *values)


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def string(text):
    raw = text.encode()
    return u64(len(raw)) + raw


def rings():
    poll = u8(3)
    frame = lambda size: u8(1) + u16(size)
    head = lambda line, word: u8(0, line) + u32(7) + u8(1) + u32(word)
    seed("ring_reader", "frames", (frame(0) + poll + frame(48) + poll + frame(300) + poll) * 8)
    seed("ring_reader", "laps", (frame(1000) + poll) * 12)
    seed("ring_reader", "too_long", head(0, 0x01FFFFFF) + poll)
    seed("ring_reader", "pad_at_start", head(0, 0) + poll)
    seed("ring_reader", "scribble", frame(20) + u8(2) + u16(8) + u8(4) + b"abcd" + poll)


def fragments():
    plain = u8(1, 1, 1)
    piece = lambda total, offset, stream, text: u8(total, offset, 3, 1) + plain + u8(stream, len(text)) + text
    seed("fragments", "two_pieces", u8(1) + piece(8, 0, 1, b"four") + piece(8, 4, 1, b"more"))
    seed("fragments", "interleaved", u8(1) + piece(4, 0, 1, b"ab") + piece(4, 0, 2, b"cd") + piece(4, 2, 1, b"ef"))
    huge = u8(8, 0, 3, 1, 0) + u64(1 << 40) + u8(1, 1, 1, 4) + b"four"
    seed("fragments", "huge", u8(1) + huge)
    seed("fragments", "round_trip", u8(0, 40) + u16(3000) + u8(9) + u8(1, 2, 3, 4) * 50)


def tcp():
    epoch = 0x01020304
    frame = lambda kind, payload: u32(len(payload), kind, 5, 6, 0, epoch) + payload
    seed("tcp_frames", "calls", u8(20) + frame(1, b"0123456789") + frame(1, b"") + frame(2, b"answer"))
    seed("tcp_frames", "notice_and_farewell", u8(0) + frame(0, b"") + frame(128, b""))
    seed("tcp_frames", "other_epoch", u8(3) + frame(1, b"one") + u32(0, 1, 0, 0, 0, 9))
    seed("tcp_frames", "too_long", u8(3) + u32(1 << 20, 1, 0, 0, 0, epoch))

    hello = b"HAMT" + u16(1) + u8(1, 0) + bytes(16) + u32(0, 1) + u64(99) + u16(7000) + bytes(6) + bytes(32)
    welcome = b"HAMW" + u16(1) + u8(0, 1) + u64(99) + u32(7) + u16(7000) + bytes(2)
    seed("tcp_hello", "hello", u8(0) + hello)
    seed("tcp_hello", "welcome", u8(1) + u64(99) + welcome)
    seed("tcp_hello", "bulk", u8(2) + b"HAMB" + u32(1) + u64(4096, 77, 100) + b"HAMB" + u32(2))
    for name, text in {"v4": "10.0.0.7:7000", "v6": "[fe80::1]:7000", "bind": "::1", "name": "node7:7000"}.items():
        seed("tcp_hello", "address_" + name, u8(3) + text.encode())
    seed("tcp_handshake", "plain", u8(0) + hello)
    seed("tcp_handshake", "plain_in_pieces", u8(2) + hello)
    # A ClientHello of TLS 1.3 that offers a key by name, and nothing that proves it.
    psk = u8(0, 41) + struct.pack(">HHH", 18 + 4 + 35, 18, 12) + b"ham-server-1" + bytes(4) + \
        struct.pack(">HB", 33, 32) + bytes(32)
    modes = u8(0, 45, 0, 2, 1, 0)
    versions = u8(0, 43, 0, 3, 2, 3, 4)
    extensions = versions + modes + psk
    body = u8(3, 3) + bytes(32) + u8(0) + u8(0, 2, 0x13, 0x02) + u8(1, 0) + struct.pack(">H", len(extensions)) + extensions
    message = u8(1) + len(body).to_bytes(3, "big") + body
    seed("tcp_handshake", "client_hello", u8(201) + u8(22, 3, 1) + struct.pack(">H", len(message)) + message)
    seed("tcp_handshake", "plain_to_secure", u8(3) + hello)
    seed("tcp_handshake", "alert", u8(201) + u8(21, 3, 3, 0, 2, 2, 40))


def manifests():
    text = lambda value: u32(len(value)) + value.encode()
    entry = lambda name, layout, kind=1, flags=0: u8(kind, flags) + text(name) + text(layout)
    here = u8(1, 1, 2, 4, 8, 8, 8, 4, 1, 16, 64, 8, 8, 16)
    there = u8(0, 0, 2, 4, 8, 8, 8, 4, 0, 16, 113, 8, 8, 16)
    manifest = lambda layout, *entries: b"HAMM" + u8(1) + layout + u32(len(entries)) + b"".join(entries)
    seed("manifest", "same", manifest(here, entry("f", "empty<f>,i4->i4"), entry("twice", "i4->i4")))
    seed("manifest", "other_argument", manifest(here, entry("f", "empty<f>,i8->i4"), entry("m", "opaque<m,4,4>", 1)))
    seed("manifest", "other_machine", manifest(there, entry("g", "opaque<g,8,8>,str,vec<f8>->void")))
    seed("manifest", "ambiguous", manifest(here, entry("f", "empty<f>,i4->i4", 1, 1)))
    seed("manifest", "empty", manifest(here))
    seed("manifest", "changed_argument", manifest(here, entry("ham::msg::call_tag<ham::fn_t<int(*)(long),&f>>", "i8->i4")))
    policies = "ham::msg::call_tag<" + "ham::msg::policy_tag<a," * 40 + "ham::fn_t<int(*)(),&f>" + ">" * 41
    seed("manifest", "policies", manifest(here, entry(policies, "i4->i4")))
    seed("manifest", "key", manifest(here, entry("ham::msg::call_tag<ham::msg::key_tag<(char)65,(char)66>>", "->i4")))
    seed("manifest", "brackets", manifest(here, entry("<" * 300, ""), entry("(&" * 150, ""), entry(",std::less<" * 30, "")))
    seed("manifest", "max_name", manifest(here, entry("x<," * 5461 + "x", "")))
    seed("manifest", "too_long_a_name", manifest(here, entry("x" * 16385, "")))
    seed("manifest", "too_many", b"HAMM" + u8(1) + here + u32(0xFFFFFFFF))


def exceptions():
    one = lambda code, kind="", what="", extra="": u8(code) + string(kind) + string(what) + string(extra)
    seed("exceptions", "runtime_error", one(5, "std::runtime_error", "no more paper"))
    seed("exceptions", "system_error", one(250, "std::system_error", "open: No such file or directory", "2:generic"))
    seed("exceptions", "system_error_without_code", one(250, "std::system_error", "", "x:system"))
    seed("exceptions", "unknown", one(252, "some::error", "text"))
    seed("exceptions", "registered", one(251, "(anonymous namespace)::out_of_paper", "", "tray 2"))
    seed("exceptions", "not_run", one(249, "", "node 3 failed"))
    # Each level of this mangled name doubles what a demangler makes of it.
    seed("exceptions", "grows", one(251, "St4pairIS_IS_IS_IiiES0_ES1_ES2_E"))


def codecs():
    seed("codecs", "bool", u8(0, 0, 1))
    seed("codecs", "string", u8(8, 1) + string("hello"))
    seed("codecs", "wide_string", u8(9, 0) + u64(2) + u16(104) + u16(105))
    seed("codecs", "variant", u8(16, 0, 2) + string("x"))
    seed("codecs", "vector_of_double", u8(21, 3) + u64(2) + bytes(16))
    seed("codecs", "bits", u8(22, 0) + u64(11) + b"\xff\x07")
    seed("codecs", "nothing_many_times", u8(23, 0) + u64(5) + bytes(5))
    seed("codecs", "strings", u8(25, 0) + u64(1) + u64(2) + string("a") + string("bc"))
    seed("codecs", "map", u8(35, 0) + u64(1) + string("key") + u64(2) + u32(1, 2))
    seed("codecs", "particle", u8(41, 0) + bytes(16) + string("e") + u8(1) + u32(1))
    seed("codecs", "tree", u8(42, 0) + u32(1) + u64(2) + u32(2) + u64(0) + u32(3) + u64(0))
    deep = u32(1)
    for _ in range(30):
        deep = u32(1) + u64(1) + deep
    seed("codecs", "deep_tree", u8(42, 0) + deep + u64(0))
    seed("codecs", "view", u8(46, 0) + string("view"))
    seed("codecs", "span", u8(48, 5) + u64(1) + bytes(8))
    seed("codecs", "count_of_all", u8(21, 0) + u64(0xFFFFFFFFFFFFFFFF))


def engine():
    greeted = u8(1)
    say = lambda choice, key, payload, call=5: u8(choice, key, call, call, len(payload)) + payload
    call, reply, failed, piece, batch, batch_reply, hello, manifest, goodbye, notice = range(10)
    record = lambda key, payload: u32(key, 9, len(payload)) + payload
    seed("engine", "calls", greeted + b"".join(say(call, key, u32(3)) for key in range(6)))
    seed("engine", "text", greeted + say(call, 2, string("text")) + say(call, 3, string("text")))
    seed("engine", "batch", greeted + say(batch, 2, record(0, b"") + record(1, u32(1))))
    seed("engine", "batch_cut_off", greeted + say(batch, 2, record(0, b"")))
    part = lambda total, offset, text, kind=1: u64(total, offset) + u32(1, kind) + text
    seed("engine", "pieces", greeted + say(piece, 1, part(8, 0, b"four")) + say(piece, 1, part(8, 4, b"more")))
    seed("engine", "huge_piece", greeted + say(piece, 1, part(1 << 40, 0, b"four")))
    seed("engine", "replies", greeted + say(reply, 0, b"") + say(failed, 0, b""))
    seed("engine", "batch_reply", greeted + say(batch_reply, 0, u32(1, 4) + b"four"))
    seed("engine", "goodbye", greeted + say(goodbye, 0, b"enough"))
    seed("engine", "notice", greeted + say(notice, 0, u8(1)))
    seed("engine", "in_context", greeted + say(10, 1, u32(1) + u32(3)))
    words = u32(0x314D4148, 3) + u64(1, 2) + string("host") + string("cpu") + string("x86_64") + u32(2) + u64(1 << 30, 5) + \
        string("") + u64(1 << 26)
    seed("engine", "greeting", u8(0) + say(hello, 0, words) + say(manifest, 0, b"HAMM" + u8(1) + bytes(18)))
    seed("engine", "call_before_greeting", u8(0) + say(call, 1, u32(1)))


def answers():
    say = lambda kind, call, payload: u8(kind, call, len(payload)) + payload
    reply, failed, batch, piece, goodbye = range(5)
    all_of_them = say(reply, 0, b"") + say(reply, 1, u32(5)) + say(reply, 2, string("text")) + \
        say(reply, 3, u64(1) + string("key") + u64(1) + u32(1))
    seed("answers", "all", all_of_them + say(batch, 0, u32(4, 4, 7) + u32(5, 12) + string("more")))
    seed("answers", "twice", say(reply, 1, u32(5)) + say(reply, 1, u32(5)))
    seed("answers", "exception", say(failed, 1, u8(5) + string("std::runtime_error") + string("no") + string("")))
    seed("answers", "batched_exception", say(batch, 0, u32(4, 0x80000000) + u32(5, 0x80000000)))
    part = lambda total, offset, text, kind: u64(total, offset) + u32(0, kind) + text
    seed("answers", "in_pieces", say(piece, 1, part(4, 0, b"ab", 2)) + say(piece, 1, part(4, 2, b"cd", 2)))
    seed("answers", "of_another_kind", say(reply, 2, u32(1)))
    seed("answers", "goodbye", say(reply, 1, u32(5)) + say(goodbye, 0, b"enough"))


def notices():
    text = lambda words: u16(len(words)) + words
    announcement = u8(1) + u32(5, 5) + u8(1, 0) + bytes(32) + u64(2) + u32(2) + string("127.0.0.1:7000") + u32(3) + \
        string("[::1]:7000") + u64(1) + u32(4) + u8(1) + u64(1) + u32(5, 7)
    introduce = lambda node: u8(2) + struct.pack("<i", node)
    seed("notices", "announcement", u8(1) + text(announcement) + text(introduce(2)))
    seed("notices", "introduction_at_host", u8(4) + text(introduce(2)))
    seed("notices", "introduction_of_nobody", u8(1) + text(introduce(-1)))
    seed("notices", "too_many_nodes", u8(1) + text(u8(1) + u32(0xFFFFFFFF, 0) + u8(1, 0) + bytes(32) + u64(0, 0, 0)))


def kernels():
    integer, real, single, stack_in, stack_inout, stack_out = range(6)
    def call(kinds, words, contents=b"", count=None, result=0):
        head = u32(len(kinds) if count is None else count) + u8(result, 0, 0, 0) + u8(*kinds)
        return head + bytes(-len(head) % 8) + u64(*words) + contents
    seed("kernel_arguments", "numbers", call((integer, real, single), (1, 2, 3), result=7))
    seed("kernel_arguments", "buffers", call((stack_in, stack_inout, stack_out), (3, 8, 20), bytes(range(16))))
    seed("kernel_arguments", "nothing", call((), ()))
    seed("kernel_arguments", "empty_buffers", call((stack_in, stack_out), (0, 0)))
    seed("kernel_arguments", "wraps", call((stack_out,) * 16, (1 << 63,) * 16))
    seed("kernel_arguments", "too_many", call((integer,), (1,), count=0xFFFFFFFF))
    seed("kernel_arguments", "cut_off", call((stack_in,), (9,), bytes(8)))


def device_frames():
    plain, chain, cancelled, elsewhere = 3, 5, 0xe3, 31

    def call(how, function, size, contents=b""):
        return u8(how, function) + u16(size) + contents

    def chain_of(*words):
        return call(chain, 0, 0, u8(2 * len(words))) + u64(*words)

    def step(function, size=0, own=False, copies=0):
        return function | own << 27 | size << 28 | copies << 40

    def copy(source, to, size):
        return source | to << 16 | size << 32

    seed("device_frames", "calls", u8(3) + call(plain, 0, 12, bytes(12)) + call(plain, 1, 4, bytes(12)) + call(plain, 2, 0) + bytes(4))
    seed("device_frames", "cancelled", u8(2) + call(cancelled, 0, 12, bytes(12)) + call(plain, 4, 4, bytes(4)) + bytes(3))
    seed("device_frames", "elsewhere", u8(2) + call(elsewhere, 3, 16) + call(elsewhere, 0, 12, bytes(12)) + bytes(2))
    seed("device_frames", "chain", u8(1) + chain_of(step(0, 12, own=True), 0, 0, step(0, 12, copies=2), copy(0, 0, 8), copy(0, 8, 4)) + bytes(9))
    seed("device_frames", "long_results", u8(1) + chain_of(step(8), step(8)) + bytes(9))
    seed("device_frames", "copies", u8(1) + chain_of(step(6, 1000, own=True), step(6, 1000, copies=2), copy(0, 996, 8)) + bytes(9))


def recordings():
    head = u8(1) + u64(1000, 5000) + u32(2)
    event = lambda kind, ticks: u8(kind) + u64(ticks) + struct.pack("<i", 0) + u8(1, 1) + u32(7)
    name = lambda at, text: u8(0, 2) + u16(at) + u8(len(text) + 2) + u16(len(text)) + text
    seed("recording", "nothing", head)
    seed("recording", "executing", head + u8(3, 0, 0) + event(4, 2000) + u8(3, 1, 5) + event(1, 1500))
    seed("recording", "names", head + name(0, b"assemble()") + name(12, b"solve(int)") + u8(0, 0, 0) + event(4, 2000))
    seed("recording", "names_without_end", head + name(0, b"\x1b[2J") + u8(0, 2) + u16(6) + u8(2) + u16(0xFFFF))
    seed("recording", "of_the_future", u8(1) + u64((1 << 64) - 1, (1 << 63) - 1) + u32(0xFFFFFFFF) + u8(0, 1, 0) + event(2, 1))


def counters():
    word = lambda part, value, at: u8(part) + u64(value) + u16(at)
    area = lambda node, *words: u8(node, len(words)) + b"".join(words)
    pid, met = word(0, 4711, 0), word(2, 2, 0)
    seed("counters", "nothing", u8(0) + area(0))
    seed("counters", "host", u8(0) + area(0, pid, met, word(2, 7, 128)))
    seed("counters", "job", u8(1) + area(0, pid, met, word(2, 1 << 32 | 2, 256)) + area(1, pid, met))
    seed("counters", "texts", u8(0) + area(0, pid, met, word(0, 0x221B5C0A7FFF2241, 48), word(2, 0x221B5C0A7FFF2241, 32)))
    seed("counters", "large", u8(0) + area(0, word(1, (1 << 64) - 1, 64), word(1, (1 << 64) - 1, 72), word(0, 0xFFFFFFFF, 80)))


def trace_parts():
    event = lambda kind, begin, peer, call: u8(kind, 1) + u16(begin) + u8(1, 20, peer, 8, 0, call)
    file = lambda *events: (u64(0, 0, 1000, 1000) + u8(1) + u8(0, len(events)) + b"".join(events) + u8(1, 0) + u8(0) + u16(0))
    sent, settled, executed, span, name = 1, 4, 5, 11, 13
    callee = file(event(executed, 140, 0, 1), event(executed, 340, 0, 2))
    seed("trace_part", "nothing", file() + file())
    seed("trace_part", "calls", file(event(sent, 100, 1, 1), event(settled, 200, 1, 1), event(sent, 300, 1, 2)) + callee)
    seed("trace_part", "backwards", file(event(sent, 900, 1, 1), event(settled, 100, 1, 1)) + callee)
    seed("trace_part", "texts", file(event(name, 0, 0, 1), event(span, 10, 0, 1)) + file())


def texts():
    for name, text in {
        "shm": "shm:2@2+3,shm",
        "exec": "exec:qemu-aarch64 -L '/usr/a b' ./app*2@0-1",
        "tcp": "tcp://10.0.0.7:7000*2,tcp://[::1]:7000",
        "loopback": "loopback:3",
        "emulated": "emulated:2/initiator=host/read=900@0+1",
        "engines": "veo:2,vedma,shm",
        "ranks": "mpi:4,shm:2",
        "cores": "0,2-3,4095",
        "many": "shm:4001",
    }.items():
        seed("node_list", name, text)
    seed("hostfile", "lines", "alpha\nbeta:4 # faster\n\ngamma slots=2\n")
    seed("hostfile", "list", "alpha,beta:2,user@10.0.0.7")
    seed("hostfile", "option", "-oProxyCommand=x")
    seed("key_file", "good", "0123456789abcdef" * 4 + "\n")
    seed("key_file", "upper_case", "0123456789ABCDEF" * 4)
    seed("key_file", "short", "0123456789abcdef\n")
    seed("key_file", "long", "f" * 257)
    banner = "%%MatrixMarket matrix coordinate "
    seed("matrix_market", "general", banner + "real general\n% comment\n2 2 3\n1 1 1.5\n2 2 -2e3\n1 2 0\n")
    seed("matrix_market", "symmetric", banner + "integer symmetric\r\n2 2 2\r\n1 1 4\r\n2 1 -1\r\n")
    seed("matrix_market", "cut_off", banner + "real general\n3 3 9\n1 1 1\n")
    seed("matrix_market", "large", banner + "real general\n2147483646 1 2147483646\n")


for make in (rings, fragments, tcp, manifests, exceptions, codecs, engine, answers, notices, kernels, device_frames, recordings, counters, trace_parts, texts):
    make()
