#!/usr/bin/env python3
"""Tests of benchmarks/peers/cores.py with machines that are folders."""
import os
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "benchmarks" / "peers"))
import cores  # noqa: E402


def written(folder, core, siblings="", socket="0", **caches):
    """What the kernel says of one core; caches: l2="0-1"."""
    files = {"topology/thread_siblings_list": siblings or str(core), "topology/physical_package_id": socket}
    for index, (name, shared) in enumerate({"l1": str(core), **caches}.items()):
        for file, text in (("level", name[1]), ("type", "Unified"), ("shared_cpu_list", shared)):
            files[f"cache/index{index}/{file}"] = text
    files["cache/index9/level"], files["cache/index9/type"], files["cache/index9/shared_cpu_list"] = "2", "Instruction", "0-1000"
    for name, text in files.items():
        path = pathlib.Path(folder, f"cpu{core}", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="ascii")


class cores_test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def topology(self, usable):
        return cores.topology(usable, self.folder)

    def test_lists(self):
        for text, found in (("0-2,5", {0, 1, 2, 5}), ("7", {7}), ("", set()), ("x,1-,3", {1, 3}), ("none", set())):
            self.assertEqual(cores.read_list(text), found, text)

    def test_neighbours_that_are_siblings(self):
        """Both threads of a core follow each other; two sockets."""
        for core in range(8):
            both = f"{core // 2 * 2}-{core // 2 * 2 + 1}"
            written(self.folder, core, both, str(core // 4), l2=both, l3="0-3" if core < 4 else "4-7")
        found = self.topology(range(8))
        self.assertEqual([found.kind(0, other) for other in (0, 1, 2, 4)],
                         ["one logical CPU", "siblings of one core", "same L3", "other socket"])
        self.assertEqual(found.pair(), (0, 2))
        self.assertEqual(found.order(), [0, 2, 4, 6, 3, 5, 7, 1])
        self.assertEqual(self.topology([1, 4, 5]).pair(), (1, 4))
        self.assertEqual(self.topology([4, 5]).pair(), (4, 5))
        self.assertEqual(self.topology([3]).pair(), (3, 3))
        self.assertEqual(self.topology([3]).order(), [3])

    def test_sockets_that_take_turns_in_the_numbers(self):
        for core in range(4):
            written(self.folder, core, socket=str(core % 2), l2=str(core), l3="0,2" if core % 2 == 0 else "1,3")
        self.assertEqual(self.topology(range(4)).order(), [0, 2, 1, 3])

    def test_several_caches_of_one_socket(self):
        for core in range(4):
            written(self.folder, core, l2=str(core), l3="0-1" if core < 2 else "2-3")
        found = self.topology([1, 2, 3])
        self.assertEqual(found.kind(1, 2), "other L3 of one socket")
        self.assertEqual(found.pair(), (2, 3))

    def test_small_cores_that_share_an_l2_come_after_large_ones(self):
        for core in range(2):
            written(self.folder, core, l2=str(core), l3="0-5")
        for core in range(2, 6):
            written(self.folder, core, l2="2-5", l3="0-5")
        self.assertEqual(self.topology(range(6)).pair(), (0, 1))
        self.assertEqual(self.topology(range(6)).kind(2, 3), "same L2")

    def test_what_the_kernel_does_not_say(self):
        written(self.folder, 0, socket="-1")
        written(self.folder, 1, socket="-1")
        found = self.topology([0, 1, 2])
        self.assertEqual({found.kind(0, 1), found.kind(0, 2), found.kind(0, 9)}, {"kind unknown"})
        self.assertEqual(found.order(), [0, 1, 2])

    def test_this_machine(self):
        self.assertEqual(sorted(cores.topology().order()), sorted(os.sched_getaffinity(0)))


if __name__ == "__main__":
    unittest.main()
