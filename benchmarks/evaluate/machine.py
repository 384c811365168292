"""What a reader must know of the machine and of the source that was measured."""
import glob
import os
import platform
import re
import subprocess

import toolchain

CPUS = "/sys/devices/system/cpu"


def _first_line(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""


def _lines(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _cpu_model():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lines = dict([part.strip() for part in line.split(":", 1)] for line in file if ":" in line)
    except OSError:
        return platform.processor() or "unknown"
    part = f"{platform.machine()} (implementer {lines['CPU implementer']}, part {lines['CPU part']})" \
        if {"CPU implementer", "CPU part"} <= lines.keys() else platform.machine()
    return lines.get("model name") or lines.get("Model") or lines.get("cpu") or part


def _caches():
    found = []
    for index in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index*")):
        level, kind, size, shared = (_first_line(f"{index}/{name}") for name in ("level", "type", "size", "shared_cpu_list"))
        if level and size and kind != "Instruction":
            found.append(f"L{level} {size.replace('K', ' KiB').replace('M', ' MiB')}, of cores {shared}")
    return found


def _memory_gib():
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30), 1)
    except (OSError, ValueError):
        return None


def _release():
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def _virtual():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return any(line.startswith("flags") and " hypervisor" in line for line in file)
    except OSError:
        return False


def _smt():
    """As the kernel lists it; a virtual machine may not know."""
    control = _first_line(f"{CPUS}/smt/control").replace("notsupported", "not supported").replace("notimplemented", "not implemented")
    siblings = _first_line(f"{CPUS}/cpu0/topology/thread_siblings_list")
    return "; ".join(one for one in (control, siblings and f"siblings of core 0: {siblings}") if one) or toolchain.ABSENT


def _turbo():
    for path, on in ((f"{CPUS}/intel_pstate/no_turbo", "0"), (f"{CPUS}/cpufreq/boost", "1")):
        found = _first_line(path)
        if found:
            return "on" if found == on else "off"
    return toolchain.ABSENT


def _frequencies():
    """What the governor may choose from."""
    limits = [_first_line(f"{CPUS}/cpu0/cpufreq/cpuinfo_{name}_freq") for name in ("min", "max")]
    return " to ".join(f"{int(one) / 1e6:g} GHz" for one in limits) if all(one.isdigit() for one in limits) else toolchain.ABSENT


def _microcode():
    found = (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("microcode"))
    return next(found, toolchain.ABSENT)


def _huge_pages():
    chosen = re.search(r"\[(\w+)\]", _first_line("/sys/kernel/mm/transparent_hugepage/enabled"))
    return chosen.group(1) if chosen else toolchain.ABSENT


def _quota():
    """CPU time that the control group of this process may use."""
    group = next((line.split("::", 1)[1] for line in _lines("/proc/self/cgroup") if line.startswith("0::")), "/")
    for path in (f"/sys/fs/cgroup{group}/cpu.max", "/sys/fs/cgroup/cpu.max"):
        quota = _first_line(path).split()
        if len(quota) == 2:
            return "none" if quota[0] == "max" else f"{int(quota[0]) / int(quota[1]):g} cores"
    return toolchain.ABSENT


IDENTITY = ("CPU", "architecture", "cores", "kernel")  # results of machines that differ in one of these are not those of one machine


def identity():
    """What distinguishes this machine from others."""
    return {
        "CPU": _cpu_model() + (" (virtual machine)" if _virtual() else ""),
        "architecture": platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "kernel": f"{platform.system()} {platform.release()}",
    }


def describe(build=""):
    """The machine as it is now, and what was built in a folder, as texts and numbers."""
    same = identity()
    governor = _first_line(f"{CPUS}/cpu0/cpufreq/scaling_governor")
    return {
        "name": platform.node(),
        "CPU": same["CPU"],
        "architecture": same["architecture"],
        "cores": same["cores"],
        "sockets": len({_first_line(path) for path in glob.glob("/sys/devices/system/cpu/cpu*/topology/physical_package_id")}) or 1,
        "caches": _caches(),
        "memory GiB": _memory_gib(),
        "kernel": same["kernel"],
        "release": _release(),
        "microcode": _microcode(),
        "SMT": _smt(),
        "turbo": _turbo(),
        "governor": governor or toolchain.ABSENT,
        "frequencies": _frequencies(),
        "transparent huge pages": _huge_pages(),
        "CPU quota": _quota(),
        "compiler": toolchain.compiler(build),
        "flags": toolchain.flags(build),
        "libraries": toolchain.libraries(),
        "load": [round(value, 2) for value in os.getloadavg()],
    }


def revision(source):
    """Revision of the source, with a mark if files differ from it; empty without git."""
    def git(*arguments):
        try:
            return subprocess.run(["git", "-C", source, *arguments], capture_output=True, text=True, timeout=20, check=True).stdout
        except (OSError, subprocess.SubprocessError):
            return ""

    commit = git("rev-parse", "--short=12", "HEAD").strip()
    return commit + ("+changes" if commit and git("status", "--porcelain", "--untracked-files=no").strip() else "")
