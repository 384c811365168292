"""tools/gpu-check without a GPU: how figures are held against the bars, and what is said where there is none."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))


def load():
    loader = importlib.machinery.SourceFileLoader("gpu_check", str(TOOLS / "gpu-check"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
    loader.exec_module(module)
    return module


check = load()


class every_figure(dict):
    """Has all of them, with one value, and notes which were asked for."""

    def __init__(self, value):
        super().__init__()
        self.value = value
        self.asked = set()

    def __missing__(self, key):
        self.asked.add(key)
        return self.value


class gpu_check(unittest.TestCase):
    def verdicts(self, figures, problem=""):
        return {name: verdict for name, _, _, verdict in check.judge(figures, problem)}

    def test_each_bar_is_met_missed_or_not_run(self):
        self.assertEqual(set(self.verdicts(every_figure(1.0)).values()), {"met", "missed"})
        self.assertEqual(set(self.verdicts({}, "there was no time").values()), {"not run: there was no time"})
        name = "empty call of a device function / flag ping-pong"
        self.assertEqual(self.verdicts({"empty_call_us": 2.6, "flag_ping_pong_us": 2.0})[name], "met")
        self.assertEqual(self.verdicts({"empty_call_us": 2.7, "flag_ping_pong_us": 2.0})[name], "missed")
        self.assertEqual(self.verdicts({"empty_call_us": 2.7})[name], "not run: there is no figure flag_ping_pong_us")
        self.assertEqual(self.verdicts({"empty_call_us": 2.7, "flag_ping_pong_us": 0})[name], "not run: the floor is 0")

    def test_more_is_better_where_it_is(self):
        name = "pipelined device calls, N = 1000, million/s"
        self.assertEqual(self.verdicts({"pipelined_calls_per_s": 1.1e6})[name], "met")
        self.assertEqual(self.verdicts({"pipelined_calls_per_s": 0.9e6})[name], "missed")

    def test_figures_come_from_the_programs(self):
        """Their names stand in the sources, whole or in the parts that they are made of, or are made here."""
        sources = (TOOLS.parent / "benchmarks/gpu").glob("*.c*")
        text = "".join(one.read_text(encoding="utf-8") for one in sources)
        figures = every_figure(1.0)
        check.judge(figures, "")
        here = {key for _, _, said in check.EXAMPLES for key in said} | {"lost_memory_mib"}
        for name in (figures.asked | {key for _, key in check.SPEEDS}) - here:
            begin, _, rest = name.partition("_")
            parts = (f'"{name}"', f'\\"{name}\\"')
            made = f'"{begin}_"' in text or f'("{begin}"' in text
            self.assertTrue(any(part in text for part in parts) or (made and rest), name)

    def test_a_program_that_was_ended_has_the_figures_so_far(self):
        self.assertEqual(check.object_in('{\n  "a": 1,\n  "b": 2'), {"a": 1, "b": 2})
        self.assertEqual(check.object_in('{\n  "a": 1\n}\n'), {"a": 1})
        self.assertEqual(check.object_in("nothing"), {})

    def test_without_a_gpu_it_is_skipped(self):
        check.query = lambda fields: None
        said = io.StringIO()
        before, sys.argv = sys.argv, ["gpu-check"]
        try:
            with contextlib.redirect_stdout(said):
                self.assertEqual(check.main(), 0)
        finally:
            sys.argv = before
        self.assertIn("skipped: nvidia-smi shows no GPU", said.getvalue())

    def test_the_machine_has_a_name(self):
        self.assertTrue(check.processor_name())


if __name__ == "__main__":
    unittest.main()
