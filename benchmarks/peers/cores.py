"""Which cores to measure on, and what they share, as the kernel lists it; the kinds of pairs are named as ham-bench names them."""
import os
import pathlib

FOLDER = "/sys/devices/system/cpu"
ONE_CPU, SIBLINGS, SAME_L2, SAME_L3 = "one logical CPU", "siblings of one core", "same L2", "same L3"
OTHER_L3, OTHER_SOCKET, UNKNOWN = "other L3 of one socket", "other socket", "kind unknown"
# Best first. Pairs under one L3 come before those under one L2: where there are both, the latter are small cores.
PREFERRED = (SAME_L3, SAME_L2, OTHER_L3, UNKNOWN, OTHER_SOCKET, SIBLINGS, ONE_CPU)


def read_list(text):
    """A list as the kernel writes it: 0-2,5 is 0, 1, 2, 5. What cannot be read is no core."""
    found = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdigit() and (last.isdigit() or not last):
            found.update(range(int(first), int(last or first) + 1))
    return found


def _first_line(path):
    try:
        return path.read_text(encoding="ascii", errors="replace").partition("\n")[0].strip()
    except OSError:
        return ""


class topology:
    """The cores that this process may use, or those that are given."""

    def __init__(self, usable=None, folder=FOLDER):
        self.usable = sorted(os.sched_getaffinity(0) if usable is None else usable)
        self._siblings, self._socket, self._caches = {}, {}, {}
        for core in self.usable:
            of = pathlib.Path(folder, f"cpu{core}")
            self._siblings[core] = read_list(_first_line(of / "topology" / "thread_siblings_list"))
            self._socket[core] = _first_line(of / "topology" / "physical_package_id")
            self._caches[core] = {}
            for index in of.glob("cache/index*"):
                if _first_line(index / "type") != "Instruction":
                    self._caches[core][_first_line(index / "level")] = read_list(_first_line(index / "shared_cpu_list"))

    def kind(self, one, other):
        """What two cores share."""
        if one == other:
            return ONE_CPU
        if one not in self._siblings or other not in self._siblings:
            return UNKNOWN
        if other in self._siblings[one]:
            return SIBLINGS
        for level, kind in (("2", SAME_L2), ("3", SAME_L3)):
            if other in self._caches[one].get(level, ()):
                return kind
        # Where the kernel does not know the socket it says -1.
        sockets = self._socket[one], self._socket[other]
        if not all(socket.isdigit() for socket in sockets):
            return UNKNOWN
        return OTHER_L3 if sockets[0] == sockets[1] else OTHER_SOCKET

    def pair(self):
        """Two cores that are no siblings, if there are such: the best of PREFERRED."""
        pairs = [(one, other) for one in self.usable for other in self.usable if one < other]
        return min(pairs, key=lambda pair: (PREFERRED.index(self.kind(*pair)), pair)) if pairs else (self.usable[0],) * 2

    def order(self):
        """All of them in the order in which workers get them: the pair first, near ones before far ones, and siblings of those that
        are in use last."""
        first = self.pair()[0]
        near = sorted(self.usable, key=lambda core: (core != first, PREFERRED.index(self.kind(first, core)), core))
        own, shared, in_use = [], [], set()
        for core in near:
            (shared if core in in_use else own).append(core)
            in_use |= self._siblings[core]
        return own + shared
