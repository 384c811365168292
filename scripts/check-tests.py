#!/usr/bin/env python3
"""Checks that tests mirror sources: check-tests.py [--list] [ROOT] | --self-test

A unit is what one name stands for in one folder of src/: x.cpp, x.hpp, or both. Its test is tests/<same folder>/x_test.cpp, or,
where what it implements is declared in include/ham/offload/x.hpp, tests/offload/x_test.cpp.
A header that only declares is no unit. EXCEPTIONS need no test of their own; of the others at most MAX_UNTESTED may be
without one, a number that is only ever lowered. Tests of the folders in MIRRORED must belong to a unit, of src/ or of
include/ham/, or be among BEHAVIOUR. Prints what is wrong and ends with 1 if anything is; --list prints the units without
a test.
"""
import pathlib
import re
import sys
import tempfile

MAX_UNTESTED = 49

# Unit -> what tests it instead.
EXCEPTIONS = {
    "src/main/wrap_main": "replaces main: every program of tests/multiprocess that has no main of its own starts by it",
    "src/mpix/main/main": "a main: every program of tests/mpix/spawn starts by it",
    "src/mpix/main/kernel_host": "a main: started by tests/mpix/spawn",
    "src/veo/helper/main": "a main: the helper that every test of tests/veo starts",
    "src/veo/helper/pinning": "binds threads of helpers: tests/veo/cores_test.c asks kernels where they run",
    "src/veo/kernel_side/vhcall_stubs": "functions that fail, for kernels to link: tests/veo/vhcall_test.c calls them",
    "src/veo/host_requests": "hands requests on: every test of VHcall, tests/veo/vhcall_test.c",
    "src/veo/helper/host_line": "is about two processes: tests/veo/vhcall_test.c",
    "src/veo/helper/vhcall": "what kernels call: tests/veo/kernels_vhcall.c",
    "src/veo/host/host_functions": "is about two processes: tests/veo/vhcall_test.c",
    "src/veo/host/api_caller": "what functions of the host call: tests/veo/host_library.c",
    "src/veo/host/far_memory": "is about another machine: tests/veo/elsewhere_test.c",
    "src/runtime/reverse_calls": "for libveo: tests/veo/vhcall_test.c",
    "src/veo/kernel_side/stubs": "functions that do nothing, for kernels to link",
    "src/job/ham_main": "what VEO calls in a target: tests/multiprocess/one_sided_test.cpp",
    "src/job/serve": "is about other processes: tests/multiprocess/tcp_job_test.cpp",
    "src/runtime/address_check": "works through the linker: tests/multiprocess/address_check_test.cpp",
    "src/runtime/device_of_process": "a process has one device: tests/runtime/device_calls_test.cpp",
    "src/runtime/device_execution": "is about calls of a node: tests/runtime/device_calls_test.cpp",
    "src/transport/cuda/host_transport": "is about two processes: tests/conformance/cuda_fixture.cpp",
    "src/transport/cuda/target_transport": "is about two processes: tests/conformance/cuda_fixture.cpp",
    "src/transport/cuda/device_factory": "what both factories have: tests/transport/cuda/factory_test.cpp",
    "src/runtime/forks": "is about other processes: tests/multiprocess/fork_test.cpp",
    "src/runtime/output": "is about what targets print: tests/multiprocess/output_test.cpp",
    "src/transport/device_memory": "an interface: tests/transport/cuda/emulated_memory_test.cpp",
    "src/transport/device": "an interface: tests/transport/cuda/emulated_device_test.cpp",
    "src/transport/factory": "an interface: tests/compose/transports_test.cpp asks every factory",
    "src/transport/in_process": "an interface: tests/transport/loopback/factory_test.cpp",
    "src/transport/launched_factory": "an interface: tests/transport/mpi/factory_test.cpp",
    "src/transport/network_factory": "an interface: tests/transport/tcp/factory_test.cpp",
    "src/transport/starting": "an interface: tests/transport/shm/factory_test.cpp",
    "src/transport/mpi/module": "the one function that a module exports: loaded by every test of tests/mpi",
    "src/transport/mpi/bulk_client": "is about other ranks: tests/mpi/transfers_test.cpp",
    "src/transport/mpi/bulk_parts": "is about other ranks: tests/mpi/transfers_test.cpp",
    "src/transport/mpi/bulk_server": "is about other ranks: tests/mpi/transfers_test.cpp",
    "src/transport/mpi/distant_memory": "is about other ranks: tests/mpi/conformance.cpp, with HAM_MPI_MAP=0",
    "src/transport/mpi/short_messages": "is about other ranks: tests/mpi/transfers_test.cpp",
    "src/transport/tcp/module": "the one function that a module exports: loaded by tests/conformance",
    "src/transport/tcp/static_module": "an initialiser of fully static programs: tests/consumer/tcp_static.cpp",
    "src/transport/tcp/tls_cipher_openssl": "one of the ciphers that tests/transport/tcp/tls_cipher_test.cpp holds against each other",
    "src/transport/tcp/tls_cipher_ipsec_mb": "one of the ciphers that tests/transport/tcp/tls_cipher_test.cpp holds against each other",
    "src/transport/tcp/tls_context_parts": "what sessions of a key ask of it: tests/transport/tcp/tls_session_test.cpp",
    "src/transport/tcp/tls_absent": "stands in for TLS where OpenSSL is missing",
    "src/transport/tcp/tls_cipher_ipsec_mb_absent": "stands in for a cipher where its library is missing",
}

# Folders whose tests are held against units; what is below them, too.
MIRRORED = ("base", "msg", "core", "job", "compose", "runtime", "c_api", "transport", "debug_info", "trace")

# Folders that implement include/ham/offload/.
BEHIND_THE_API = ("core", "job", "compose", "runtime")

# Test -> behaviour of several units together that it is about.
BEHAVIOUR = {
    "tests/core/dispatcher_limits_test.cpp": "calls that a dispatcher refuses",
    "tests/msg/codec_layout_test.cpp": "what codecs say of the layout of values",
    "tests/runtime/engine_flow_test.cpp": "pings to a node that has too much to do",
    "tests/runtime/engine_loss_test.cpp": "peers that are lost in the middle of something",
    "tests/runtime/engine_order_test.cpp": "continuations and calls of one peer together",
    "tests/runtime/engine_outcome_test.cpp": "what is known of calls that failed",
    "tests/runtime/no_memory_test.cpp": "what happens when memory runs out",
    "tests/runtime/pooled_backlog_test.cpp": "calls that wait for the pool",
    "tests/transport/tcp/downgrade_test.cpp": "strangers that speak TLS, but not ours",
    "tests/transport/tcp/hostile_test.cpp": "strangers and traitors at a job",
}

CODE = re.compile(r"\b(return|if|for|while|switch|throw|new|delete)\b")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def has_code(header):
    return CODE.search(COMMENT.sub("", header.read_text(encoding="utf-8"))) is not None


def units_of(root):
    """Paths of all units without their endings, relative to the root."""
    found = set()
    for source in (root / "src").rglob("*"):
        if source.suffix == ".cpp" or source.suffix == ".hpp" and has_code(source):
            found.add(source.relative_to(root).with_suffix(""))
    return found


def test_of(unit):
    return pathlib.Path("tests", *unit.parts[1:-1], unit.name + "_test.cpp")


def has_test(root, unit):
    if (root / test_of(unit)).is_file():
        return True
    declared = root / "include/ham/offload" / (unit.name + ".hpp")
    public = unit.parts[1] in BEHIND_THE_API and declared.is_file()
    return public and (root / "tests/offload" / (unit.name + "_test.cpp")).is_file()


def strange_tests(root):
    """Tests in mirrored folders that belong to no unit."""
    strange = []
    for test in sorted((root / "tests").rglob("*_test.cpp")):
        path = test.relative_to(root)
        if path.parts[1] not in MIRRORED or path.as_posix() in BEHAVIOUR:
            continue
        name = path.name.removesuffix("_test.cpp")
        below = pathlib.Path(*path.parts[1:-1])
        places = [folder / (name + ending) for folder in (root / "src" / below, root / "include/ham" / below)
                  for ending in (".cpp", ".hpp")]
        if not any(place.is_file() for place in places):
            strange.append(path)
    return strange


def check(root, exceptions=None, max_untested=None):
    """What is wrong, as lines of text; the untested units; the number of units."""
    exceptions = EXCEPTIONS if exceptions is None else exceptions
    max_untested = MAX_UNTESTED if max_untested is None else max_untested
    units = units_of(root)
    wanted = {unit for unit in units if unit.as_posix() not in exceptions}
    untested = sorted(unit for unit in wanted if not has_test(root, unit))
    wrong = []
    if len(untested) > max_untested:
        wrong.append(f"{len(untested)} units have no test of their name, {max_untested} may be without: give new ones "
                     "theirs (check-tests.py --list shows all)")
    for name in sorted(exceptions):
        unit = pathlib.Path(name)
        if unit not in units:
            wrong.append(f"{name}: an exception for no unit; take it out of EXCEPTIONS")
        elif has_test(root, unit):
            wrong.append(f"{name}: has a test now; take it out of EXCEPTIONS")
    wrong += [f"{test}: no unit has this name; name it after one, or add it to BEHAVIOUR" for test in strange_tests(root)]
    wrong += [f"{test}: is not there; take it out of BEHAVIOUR" for test in sorted(BEHAVIOUR)
              if root == REPOSITORY and not (root / test).is_file()]
    return wrong, untested, len(units)


REPOSITORY = pathlib.Path(__file__).resolve().parent.parent


def self_test():
    """Builds small trees and sees whether the check says what it should."""
    cases = [
        # files, exceptions, how many may be untested, expected number of wrongs and of untested units
        (["src/base/a.cpp", "src/base/a.hpp", "tests/base/a_test.cpp"], {}, 0, 0, 0),
        (["src/base/a.cpp"], {}, 0, 1, 1),
        (["src/base/a.cpp"], {}, 1, 0, 1),
        (["src/base/a.cpp"], {"src/base/a": "why"}, 0, 0, 0),
        (["src/base/a.cpp", "tests/base/a_test.cpp"], {"src/base/a": "why"}, 0, 1, 0),
        ([], {"src/base/a": "why"}, 0, 1, 0),
        (["src/transport/shm/a.cpp", "tests/transport/a_test.cpp"], {}, 1, 1, 1),
        (["src/transport/shm/a.cpp", "tests/transport/shm/a_test.cpp"], {}, 0, 0, 0),
        (["src/base/words.hpp"], {}, 0, 0, 0),
        (["include/ham/msg/a.hpp", "tests/msg/a_test.cpp"], {}, 0, 0, 0),
        (["tests/multiprocess/a_test.cpp"], {}, 0, 0, 0),
        (["src/runtime/a.cpp", "include/ham/offload/a.hpp", "tests/offload/a_test.cpp"], {}, 0, 0, 0),
        (["src/runtime/a.cpp", "tests/offload/a_test.cpp"], {}, 0, 1, 1),
    ]
    failures = 0
    for files, exceptions, most, wrongs, missing in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in files:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("// return\nint a();\n" if "words" in name else "int a() { return 1; }\n")
            wrong, untested, _ = check(root, exceptions, most)
        if (len(wrong), len(untested)) != (wrongs, missing):
            failures += 1
            print(f"{files}: expected {wrongs} wrong and {missing} untested, found {wrong} and {untested}")
    print(f"self-test: {len(cases)} cases, {failures} failures")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    show = "--list" in arguments
    places = [one for one in arguments if one != "--list"]
    root = pathlib.Path(places[0]).resolve() if places else REPOSITORY
    wrong, untested, count = check(root)
    for unit in untested if show else []:
        print(f"{unit.as_posix()}: no {test_of(unit).as_posix()}")
    for problem in wrong:
        print(problem)
    print(f"tests: {count} units, {len(untested)} without a test of their name (at most {MAX_UNTESTED}), "
          + (f"{len(wrong)} problems" if wrong else "ok"))
    if len(untested) < MAX_UNTESTED:
        print(f"tests: lower MAX_UNTESTED to {len(untested)} in scripts/check-tests.py")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
