#!/usr/bin/env python3
"""Checks who includes whom (ARCHITECTURE.md): check-layers.py [ROOT] | --self-test

Every #include of include/, src/, tools/, examples/, benchmarks/ and python/ is resolved to a room of the house and held
against RULES. Besides, installed headers and the library proper include no header of a third party; of include/ and src/
only the files of settings read the environment; only base sleeps or yields by itself; and the rooms of NAMELESS_ROOMS
have no transport's name as text. Prints one line per violation and ends with 1 if there is any.
"""
import pathlib
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
GETENV = re.compile(r"\b(secure_)?getenv\b")
SLEEP = re.compile(r"\b(nanosleep|usleep|clock_nanosleep|sched_yield|sleep_for|sleep_until)\b|(?<!\w)::sleep\(|this_thread::yield\b")
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".cu", ".cuh"}
TREES = ("include", "src", "tools", "examples", "benchmarks", "python")

# Headers that any room may include: words, no machinery.
VOCABULARY = {"include/ham/error.hpp", "include/ham/error_info.hpp", "include/ham/misc.hpp", "include/ham/misc/types.hpp",
              "include/ham/misc/constants.hpp"}

PUBLIC = {"vocabulary", "public msg", "public offload", "public device", "public"}

# Room -> rooms that it may include. Its own room is always allowed.
RULES = {
    "vocabulary": set(),
    "public msg": {"vocabulary"},
    "public offload": {"vocabulary", "public msg", "public device"},
    "public device": {"vocabulary"},
    "public": PUBLIC,
    "base": {"vocabulary"},
    "msg": {"vocabulary", "public msg", "base"},
    "transport contract": {"vocabulary", "public device", "base"},
    "transport/common": {"vocabulary", "base", "transport contract"},
    "transport/*": {"vocabulary", "public device", "base", "transport contract", "transport/common"},
    "core": PUBLIC | {"base", "msg", "transport contract"},
    "compose": {"vocabulary", "transport contract"},
    "job": PUBLIC | {"base", "msg", "transport contract", "transport/common", "compose", "core", "runtime", "trace"},
    "runtime": PUBLIC | {"base", "msg", "transport contract", "compose", "core", "job"},
    "trace": PUBLIC | {"base"},
    "main": PUBLIC | {"runtime"},
    "debug_info": set(),
    "c_api": PUBLIC,
    "veo": PUBLIC | {"base", "debug_info"},
    "mpix": PUBLIC | {"base", "debug_info"},
    "src/*": PUBLIC,
    "program": PUBLIC,
}

# Held against nothing: tests that a transport of examples/ brings with it.
UNCHECKED_ROOM = "test"

# Rooms made for a third party's runtime: they may include its headers.
VENDOR_ROOMS = {f"transport/{name}" for name in ("tcp", "mpi", "ucx", "veo", "vedma", "cuda")} | {"veo", "mpix"}

# The installed headers that cannot do without: functions that take MPI's communicators, senders of programs that use
# stdexec, and say so.
VENDOR_HEADERS = {("include/ham/mpix_kernel.h", "mpi.h"),
                  ("include/ham/offload/detail/sender_names_stdexec.hpp", "stdexec/execution.hpp")}

# Who reads the environment: the library, libveo with its helper, and MPI kernels.
SETTINGS_FILES = {"src/base/settings.cpp", "src/veo/settings.cpp", "src/mpix/settings.hpp"}

# The room whose threads pass time by themselves: its clock.hpp, which a simulation replaces.
SLEEPING_ROOMS = {"base"}

# How a factory says what its transport is called. These rooms do not have such a name as text.
NAMELESS_ROOMS = {"base", "msg", "core", "job", "compose", "runtime", "c_api", "main"}
FACTORY_NAME = re.compile(r'\bname\(\) const noexcept (?:override|final) \{ return "(\w+)"; \}')

SYSTEM_FOLDERS = ("sys/", "linux/", "asm/", "netinet/", "arpa/", "net/")
SYSTEM_HEADERS = {
    f"{name}.h"
    for name in (
        "assert cpuid ctype cxxabi dirent dlfcn elf endian errno fcntl features fenv float getopt ifaddrs immintrin "
        "inttypes libgen limits link locale malloc math netdb poll pthread pwd sched semaphore setjmp signal spawn "
        "stdalign stdarg stdbool stddef stdint stdio stdlib string strings syscall termios time ucontext unistd wchar "
        "x86intrin"
    ).split()
}


def room_of(path):
    """Room of a file, given its path relative to the root."""
    parts = path.parts
    text = path.as_posix()
    if text in VOCABULARY:
        return "vocabulary"
    if parts[0] == "include":
        if parts[1:2] == ("ham",) and parts[2] in ("msg", "offload", "device") and len(parts) > 3:
            return f"public {parts[2]}"
        return "public"
    if parts[0] == "examples" and parts[1].startswith("transport_"):
        return f"transport/{parts[1]}" if len(parts) == 3 else "test"
    if parts[0] != "src":
        return "program"
    if parts[1] == "transport":
        return f"transport/{parts[2]}" if len(parts) > 3 else "transport contract"
    return parts[1]


def allowed(room):
    """Rooms that a room may include."""
    if room in RULES:
        return RULES[room]
    return RULES["transport/*"] if room.startswith("transport/") else RULES["src/*"]


def may_include(room, other):
    if room == other or other in allowed(room):
        return True
    return other.startswith("transport/") and "transport/*" in allowed(room)


def is_system(name):
    """Header of the C or C++ standard library, POSIX, Linux or the compiler."""
    return "." not in name and "/" not in name or name in SYSTEM_HEADERS or name.startswith(SYSTEM_FOLDERS)


def resolve(root, source, name):
    """The file that an include means, relative to the root, or None if it is not ours."""
    for folder in (source.parent, root / "include", root / "src", root):
        candidate = (folder / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root)
    return None


def check_include(root, source, name):
    """The violation that one include is, or None."""
    room = room_of(source.relative_to(root))
    if room == UNCHECKED_ROOM:
        return None
    target = resolve(root, source, name)
    if target is None:
        if name.startswith("ham/"):
            return f"includes {name}, which does not exist"
        if (source.relative_to(root).as_posix(), name) in VENDOR_HEADERS:
            return None
        if room not in VENDOR_ROOMS and room != "program" and not is_system(name):
            return f"includes {name}: {room} may include no header of a third party"
        return None
    other = room_of(target)
    if target.parts[0] not in ("include", "src") and other != room:
        shared = source.relative_to(root).parts[0] == target.parts[0]
        return None if shared else f"includes {target.as_posix()}: that is a program's own header"
    if not may_include(room, other):
        return f"includes {target.as_posix()}: {room} must not know {other}"
    return None


def check_line(root, source, line, names):
    """The violation that a line is, or None."""
    match = INCLUDE.match(line)
    if match:
        return check_include(root, source, match.group(2))
    path = source.relative_to(root)
    if path.parts[0] == "src" and path.parts[1] not in SLEEPING_ROOMS and SLEEP.search(line.split("//")[0]):
        return "sleeps, or yields, by itself: base/clock.hpp and base/backoff.hpp do"
    if path.parts[0] in ("include", "src") and GETENV.search(line) and path.as_posix() not in SETTINGS_FILES:
        return "reads the environment: base/settings.hpp is the place for that"
    return check_names(root, source, line, names)


def transport_names(root):
    """Names of all transports: what the factories below src/transport/ and in examples/transport_*/ say."""
    names = set()
    for source in (root / "src" / "transport").rglob("*factory*.cpp"):
        names.update(FACTORY_NAME.findall(source.read_text(encoding="utf-8")))
    for source in (root / "examples").glob("transport_*/factory.cpp"):
        names.update(FACTORY_NAME.findall(source.read_text(encoding="utf-8")))
    return sorted(names)


def check_names(root, source, line, names):
    """The violation that a transport's name in a line is, alone or as the begin of a group of HAM_NODES; or None."""
    parts = source.relative_to(root).parts
    if not names or parts[0] != "src" or parts[1] not in NAMELESS_ROOMS:
        return None
    match = re.search(f'"({"|".join(names)})(?:[:/][^"]*)?"', line.split("//")[0])
    return f"has the name of the transport {match.group(1)}: ask the list of factories" if match else None


def check(root):
    """All violations below a root, as lines of text; and the number of files read."""
    root = root.resolve()
    violations = []
    count = 0
    names = transport_names(root)
    for tree in TREES:
        for source in sorted((root / tree).rglob("*")):
            if source.suffix not in SUFFIXES:
                continue
            count += 1
            lines = source.read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines, start=1):
                problem = check_line(root, source, line, names)
                if problem:
                    violations.append(f"{source.relative_to(root).as_posix()}:{number}: {problem}")
    return violations, count


# Include lines that must be found wrong, and such that must not.
BAD = [
    ("src/base/a.hpp", "msg/m.hpp"),
    ("src/msg/a.cpp", "ham/offload/o.hpp"),
    ("src/msg/a.cpp", "transport/transport.hpp"),
    ("src/transport/transport.hpp", "msg/m.hpp"),
    ("src/transport/common/a.hpp", "transport/shm/s.hpp"),
    ("src/transport/loopback/a.hpp", "transport/shm/s.hpp"),
    ("src/transport/loopback/a.hpp", "../shm/s.hpp"),
    ("src/transport/shm/a.cpp", "runtime/r.hpp"),
    ("src/transport/shm/a.cpp", "mpi.h"),
    ("src/runtime/a.cpp", "transport/shm/s.hpp"),
    ("src/core/a.cpp", "runtime/r.hpp"),
    ("src/core/a.cpp", "transport/shm/s.hpp"),
    ("src/transport/shm/a.cpp", "core/c.hpp"),
    ("src/job/a.cpp", "transport/shm/s.hpp"),
    ("src/compose/a.cpp", "transport/shm/s.hpp"),
    ("src/compose/a.cpp", "runtime/r.hpp"),
    ("src/veo/a.cpp", "runtime/r.hpp"),
    ("src/c_api/a.cpp", "runtime/r.hpp"),
    ("src/c_api/a.cpp", "base/b.hpp"),
    ("src/debug_info/a.cpp", "ham/error.hpp"),
    ("src/debug_info/a.cpp", "libdw.h"),
    ("src/core/a.cpp", "debug_info/d.hpp"),
    ("include/ham/msg/a.hpp", "ham/offload/o.hpp"),
    ("include/ham/offload/a.hpp", "runtime/r.hpp"),
    ("include/ham/offload/a.hpp", "cuda_runtime.h"),
    ("include/ham/offload/a.hpp", "ucp/api/ucp.h"),
    ("include/ham/a.h", "mpi.h"),
    ("include/ham/offload/a.hpp", "ham/absent.hpp"),
    ("tools/ham-info/a.cpp", "base/b.hpp"),
    ("examples/usage/a.cpp", "runtime/r.hpp"),
    ("examples/transport_own/a.cpp", "runtime/r.hpp"),
    ("examples/transport_own/a.cpp", "transport/shm/s.hpp"),
    ("examples/transport_own/a.cpp", "mpi.h"),
]
GOOD = [
    ("src/base/a.cpp", "ham/error.hpp"),
    ("src/base/a.cpp", "sys/mman.h"),
    ("src/msg/a.cpp", "base/b.hpp"),
    ("src/msg/a.cpp", "ham/msg/pub.hpp"),
    ("src/transport/shm/a.cpp", "s.hpp"),
    ("src/transport/shm/a.cpp", "transport/common/c.hpp"),
    ("src/transport/mpi/a.cpp", "mpi.h"),
    ("include/ham/mpix_kernel.h", "mpi.h"),
    ("src/mpix/mpi/a.cpp", "mpix/a.hpp"),
    ("src/mpix/a.cpp", "debug_info/d.hpp"),
    ("src/veo/helper/a.cpp", "debug_info/d.hpp"),
    ("src/veo/helper/a.cpp", "base/b.hpp"),
    ("src/mpix/a.cpp", "base/b.hpp"),
    ("src/core/a.cpp", "transport/transport.hpp"),
    ("src/runtime/a.cpp", "core/c.hpp"),
    ("src/runtime/a.cpp", "msg/m.hpp"),
    ("src/runtime/a.cpp", "transport/transport.hpp"),
    ("include/ham/offload/a.hpp", "ham/msg/pub.hpp"),
    ("include/ham/offload/a.hpp", "coroutine"),
    ("include/ham/top.hpp", "ham/offload/o.hpp"),
    ("tools/ham-bench/a.cpp", "CLI/CLI.hpp"),
    ("tools/ham-bench/a.cpp", "ham/offload/o.hpp"),
    ("examples/transport_own/a.cpp", "transport/common/c.hpp"),
    ("examples/transport_own/a.cpp", "base/b.hpp"),
    ("examples/transport_own/tests/a_test.cpp", "conformance/subject.hpp"),
]
BAD_LINES = [
    ("src/runtime/a.cpp", 'if (std::getenv("HOME") != nullptr) return;'),
    ("src/transport/tcp/a.cpp", '::secure_getenv("HOME")'),
    ("include/ham/a.hpp", 'getenv("HOME")'),
    ("src/mpix/a.cpp", 'getenv("HOME")'),
    ("src/transport/mpi/a.cpp", "::nanosleep(&pause, nullptr);"),
    ("src/runtime/a.cpp", "std::this_thread::sleep_for(1ms);"),
    ("src/job/a.cpp", "::sleep(1);"),
]
GOOD_LINES = [
    ("src/base/settings.cpp", 'std::getenv("HOME")'),
    ("src/veo/settings.cpp", 'std::getenv("HOME")'),
    ("tools/a.cpp", 'std::getenv("HOME")'),
    ("src/runtime/a.cpp", "::setenv(name, value, 1); forgetenv();"),
    ("src/base/clock.cpp", "::nanosleep(&duration, nullptr);"),
    ("src/runtime/a.cpp", "base::sleep_ns(1'000'000);  // not usleep"),
]
FACTORY = '  [[nodiscard]] std::string_view name() const noexcept override { return "shm"; }'
# Lines outside of src/transport/, and how many violations each is.
NAMED = [
    ('if (group.name() == "shm") start();', 1),
    ('text.starts_with("shm:")', 1),
    ('options.nodes = "shm:1";', 1),
    ('#include <span>  // "shm"', 0),
    ('start();  // as "shm" does', 0),
    ('throw config_error("only shm:COUNT");', 0),
    ('"shmem"', 0),
]
TARGETS = [
    "src/base/b.hpp", "src/msg/m.hpp", "src/transport/transport.hpp", "src/transport/common/c.hpp",
    "src/transport/shm/s.hpp", "src/core/c.hpp", "src/runtime/r.hpp", "src/debug_info/d.hpp", "include/ham/error.hpp", "include/ham/msg/pub.hpp",
    "include/ham/offload/o.hpp",
]  # fmt: skip


def self_test():
    """Builds a house for every case and sees whether the check says what it should."""
    failures = 0
    including = lambda cases: [(path, f'#include "{name}"') for path, name in cases]
    groups = ((including(BAD) + BAD_LINES, 1), (including(GOOD) + GOOD_LINES, 0))
    for cases, expected in groups:
        for path, line in cases:
            with tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                for target in TARGETS:
                    (root / target).parent.mkdir(parents=True, exist_ok=True)
                    (root / target).write_text("#pragma once\n")
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(line + "\n")
                found, _ = check(root)
            if len(found) != expected:
                failures += 1
                print(f"{path} with {line}: expected {expected} violation(s), found {found}")
    for line, expected in NAMED:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in (("src/transport/shm/factory.cpp", FACTORY), ("src/job/a.cpp", line)):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text + "\n")
            found, _ = check(root)
        if len(found) != expected:
            failures += 1
            print(f"{line}: expected {expected} violation(s), found {found}")
    print(f"self-test: {sum(len(cases) for cases, _ in groups) + len(NAMED)} cases, {failures} failures")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).parent.parent
    violations, count = check(root)
    for violation in violations:
        print(violation)
    print(f"layers: {count} files, " + (f"{len(violations)} violations" if violations else "ok"))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
