#!/usr/bin/env python3
"""How long programs that use HAM take to compile: compile_time.py [--runs N] [COMPILER...]

For each compiler (default: g++): a program of <iostream> alone, the include of ham/offload.hpp, the README's first.cpp,
and 50 different calls. Prints processor seconds (least of N runs, default 3) and the compiler's memory. Options are -O2.
"""
import argparse
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Result, parameters, arguments, value: ten kinds of signatures, each five times.
SIGNATURES = [
    ("int", ["int"], ["1"], "{}"),
    ("double", ["double", "int"], ["1.5", "2"], "{}"),
    ("std::string", ["const std::string&"], ['"x"'], "{}"),
    ("double", ["const std::vector<double>&"], ["std::vector<double>(3)"], "{}"),
    ("std::size_t", ["std::string_view", "int"], ['"x"', "1"], "{}"),
    ("void", ["ham::buffer_ptr<double>", "std::size_t"], ["ham::buffer_ptr<double>{}", "3"], ""),
    ("std::pair<int, double>", ["int", "double"], ["1", "2.0"], "{}"),
    ("std::vector<int>", ["std::span<const int>"], ["std::vector<int>(2)"], "{}"),
    ("long", ["long", "short", "char"], ["1L", "2", "'c'"], "{}"),
    ("std::optional<int>", ["int"], ["1"], "{}"),
]


def fifty_calls():
    lines = ["#include <ham/offload.hpp>"]
    lines += [f"#include <{name}>" for name in "optional span string string_view utility vector".split()]
    calls = []
    for number in range(50):
        result, parameters, arguments, value = SIGNATURES[number % len(SIGNATURES)]
        lines.append(f"{result} f{number}({', '.join(parameters)}) {{ return {value}; }}")
        calls.append(f"  ham::offload::sync(1, ham::fn<&f{number}>, {', '.join(arguments)});")
    return "\n".join([*lines, "int main() {", *calls, "}", ""])


def programs():
    readme = (ROOT / "README.md").read_text()
    first = re.search(r"`first\.cpp`:\n\n```cpp\n(.*?)```", readme, re.S).group(1)
    return {
        "iostream": "#include <iostream>\nint main() { std::cout << 1; }\n",
        "include": "#include <ham/offload.hpp>\nint main() {}\n",
        "first.cpp": first,
        "50 calls": fifty_calls(),
    }


def compile_once(compiler, source):
    process = subprocess.Popen(
        [compiler, "-std=c++20", "-O2", f"-I{ROOT / 'include'}", "-c", source, "-o", os.devnull])
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{compiler} {source}: does not compile")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("compiler", nargs="*", default=["g++"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for compiler in given.compiler:
            for name, text in programs().items():
                source = pathlib.Path(folder) / "program.cpp"
                source.write_text(text)
                runs = [compile_once(compiler, source) for _ in range(given.runs)]
                print(f"{compiler:12} {name:10} {min(r[0] for r in runs):6.2f} s {max(r[1] for r in runs):6.0f} MiB",
                      flush=True)


if __name__ == "__main__":
    main()
