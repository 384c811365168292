"""python -m unittest: kernels built here, called with NumPy arrays."""
import contextlib
import gc
import io
import os
import pathlib
import sys
import tempfile
import unittest
import weakref

import numpy as np

import veo

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = """
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
uint64_t hold(volatile uint64_t* flag) { while (*flag == 0) usleep(200); return *flag; }
uint64_t fill(uint64_t* to, volatile uint64_t* flag) { hold(flag); *to = 5; return 0; }
double scale(double factor, double* x, int64_t n) { double s = 0; for (int64_t i = 0; i < n; ++i) s += x[i] *= factor; return s; }
float third(float x) { return x / 3; }
int minus(int a, unsigned char b) { return a - b; }
uint64_t first(uint64_t* p) { return *p; }
double at(double* x, int64_t i) { return x[i]; }
void nothing(void) {}
uint64_t crash(void) { abort(); }
"""


class Veo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.build = veo.VeBuild()
        cls.build.set_build_dir(cls.folder.name)
        cls.build.set_c_src("kernels", KERNELS)
        cls.name = cls.build.build_so()
        assert cls.name, "no compiler"

    def setUp(self):
        self.proc = veo.VeoProc(0)
        self.lib = self.proc.load_library(self.name)
        self.ctxt = self.proc.open_context()

    def tearDown(self):
        self.proc.proc_destroy()

    def test_page(self):
        """The block of docs/veo.md."""
        sys.path.insert(0, str(ROOT / "scripts"))
        import snippets

        block = next(one.block for one in snippets.snippets_of(ROOT) if one.name == "veo/arrays.py")
        before = os.getcwd()
        os.chdir(self.folder.name)
        try:
            if not os.path.exists("libkernels.so"):
                os.symlink(os.path.abspath(self.name), "libkernels.so")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                names = {}
                exec(block.text, names)
            names["proc"].proc_destroy()
        finally:
            os.chdir(before)
        self.assertEqual(float(printed.getvalue()), 2 * sum(range(100)))

    def test_stack_arguments_and_results(self):
        x = np.arange(100, dtype=np.float64)
        self.lib.scale.args_type("double", "double *", "int64_t")
        self.lib.scale.ret_type("double")
        request = self.lib.scale(self.ctxt, 2, veo.OnStack(x, inout=veo.INTENT_INOUT), len(x))
        self.assertEqual(request.wait_result(), 9900.0)
        self.assertEqual(x[99], 198.0)
        with self.assertRaises(RuntimeError):
            request.wait_result()
        self.assertEqual(self.lib.scale(self.ctxt, 0.5, x, len(x)).wait_result(), 4950.0)
        self.assertEqual(x[99], 99.0, "an array for a pointer goes and comes back")
        self.lib.third.args_type("float")
        self.lib.third.ret_type("float")
        self.assertEqual(self.lib.third(self.ctxt, 6).wait_result(), 2.0)
        self.lib.minus.args_type("int", "unsigned char")
        self.assertEqual(self.lib.minus(self.ctxt, 3, 250).wait_result(), -247)
        self.lib.nothing.args_type()
        self.lib.nothing.ret_type("void")
        self.assertIsNone(self.lib.nothing(self.ctxt).wait_result())

    def test_mistakes(self):
        with self.assertRaises(RuntimeError):
            self.lib.absent
        with self.assertRaises(RuntimeError):
            self.lib.first(self.ctxt, 1)
        self.lib.minus.args_type("int", "unsigned char")
        with self.assertRaises(ValueError):
            self.lib.minus(self.ctxt, 1)
        with self.assertRaises(TypeError):
            self.lib.minus.args_type("quad")
        with self.assertRaises(TypeError):
            self.proc.write_mem(0, 5, 1)
        with self.assertRaises(ValueError):
            self.proc.write_mem(0, b"12", 3)
        with self.assertRaises(ValueError):
            veo.OnStack(b"12", 3)

    def test_memory(self):
        x = np.arange(100000, dtype=np.int64)
        y = np.zeros_like(x)
        addr = self.proc.alloc_mem(x.nbytes)
        self.proc.write_mem(addr, x, x.nbytes)
        self.ctxt.async_read_mem(y, addr, y.nbytes).wait_result()
        self.assertTrue((x == y).all())
        self.ctxt.async_write_mem(addr, np.array([42]), 8).wait_result()
        self.lib.first.args_type("uint64_t *")
        self.lib.first.ret_type("uint64_t")
        self.assertEqual(self.lib.first(self.ctxt, addr).wait_result(), 42)
        self.proc.free_mem(addr)
        tagged = self.proc.alloc_hmem(64)
        self.assertTrue(veo.VEO_HMEM.is_ve_addr(tagged))
        veo.VEO_HMEM.hmemcpy(tagged, np.array([7]), 8)
        veo.VEO_HMEM.hmemcpy(y, tagged, 8)
        self.assertEqual(y[0], 7)
        self.proc.free_hmem(tagged)

    def held(self, ctxt):
        """A context whose kernel runs until the function is called."""
        flag = self.proc.alloc_mem(8)
        self.proc.write_mem(flag, bytes(8), 8)
        self.lib.hold.args_type("uint64_t *")
        self.lib.hold(ctxt, flag)
        return flag, lambda: self.proc.write_mem(flag, np.array([1]), 8)

    def test_dropped_requests(self):
        """Buffers stay until the transfers are done, whatever the program forgets."""
        ctxt = self.proc.open_context()
        addr = self.proc.alloc_mem(1 << 20)
        for end in (ctxt.context_sync, lambda: ctxt.async_read_mem(bytearray(8), addr, 8).wait_result()):
            flag, go_on = self.held(ctxt)
            buffers = [np.zeros(1 << 17), np.zeros(1 << 17), np.zeros(1)]
            refs = [weakref.ref(one) for one in buffers]
            ctxt.async_write_mem(addr, buffers[0], 1 << 20)
            ctxt.async_read_mem(buffers[1], addr, 1 << 20)
            self.lib.fill.args_type("uint64_t *", "uint64_t *")
            self.lib.fill(ctxt, veo.OnStack(buffers[2], inout=veo.INTENT_OUT), flag)
            del buffers
            gc.collect()
            alive = [one() is not None for one in refs]
            go_on()
            end()
            self.assertTrue(all(alive), "while it runs")
            self.assertTrue(all(one() is None for one in refs), "afterwards")
            self.proc.free_mem(flag)

    def test_dropped_contexts(self):
        """The finalizer lets requests finish, and closes."""
        ctxt = veo.VeoCtxt(self.proc)
        self.assertNotIn(ctxt, self.proc.context)
        handle = ctxt._ctxt
        flag, go_on = self.held(ctxt)
        y = np.zeros(1)
        ctxt.async_read_mem(y, flag, 8)
        go_on()
        del ctxt
        gc.collect()
        self.assertEqual(veo._veo.lib.veo_get_context_state(handle), veo.STATE_EXIT)
        self.assertEqual(y.view(np.int64)[0], 1)
        ctxt = self.proc.open_context()
        self.assertEqual(self.proc.context, [self.ctxt, ctxt])
        request = ctxt.async_write_mem(flag, y, 8)
        ctxt.context_close()
        ctxt.context_close()
        self.assertEqual(self.proc.context, [self.ctxt])
        for use in (request.wait_result, lambda: ctxt.async_read_mem(y, flag, 8)):
            with self.assertRaises(RuntimeError):
                use()
        self.assertIsNone(self.lib.hold(ctxt, flag))

    def test_failures(self):
        with self.assertRaises(RuntimeError):
            self.proc.set_proc_identifier(4096, 16)
        with self.assertRaises(RuntimeError):
            veo.VEO_HMEM.get_proc_handle_from_hmem(4096)
        ident = self.proc.proc_identifier()
        tagged = self.proc.set_proc_identifier(4096, ident)
        self.assertEqual(veo.VEO_HMEM.get_proc_handle_from_hmem(tagged), self.proc._proc_handle)
        self.proc.proc_destroy()
        for use in (self.proc.proc_identifier, lambda: veo.VEO_HMEM.get_proc_handle_from_hmem(tagged),
                    self.proc.open_context, lambda: self.proc.free_mem(8), lambda: self.proc.read_mem(bytes(8), 8, 8),
                    lambda: self.lib.get_symbol("new"), lambda: self.proc.load_library(self.name)):  # fmt: skip
            with self.assertRaises(RuntimeError):
                use()

    def test_symbols(self):
        """An attribute is a function, whatever get_symbol has found."""
        addr = self.lib.get_symbol("minus")
        self.assertEqual((self.lib.symbol[b"minus"], self.lib.minus.addr), (addr, addr))
        self.assertIs(self.lib.minus, self.lib.find_function("minus"))
        self.assertIs(self.lib.func[b"minus"], self.lib.minus)

    def test_arrays_in_fortran_order(self):
        x = np.asfortranarray(np.arange(6, dtype=np.float64).reshape(2, 3))  # in memory: 0 3 1 4 2 5
        self.lib.scale.args_type("double", "double *", "int64_t")
        self.lib.scale.ret_type("double")
        self.lib.at.args_type("double *", "int64_t")
        self.lib.at.ret_type("double")
        self.assertEqual(self.lib.at(self.ctxt, veo.OnStack(x), 1).wait_result(), 3.0)
        self.assertEqual(self.lib.scale(self.ctxt, 2, x, 6).wait_result(), 30.0)
        self.assertEqual(x[1, 0], 6.0, "an array for a pointer comes back")
        stack = veo.OnStack(x, inout=veo.INTENT_INOUT)
        self.assertEqual((stack.size(), stack.c_pointer()), (48, x.ctypes.data))
        self.assertEqual(self.lib.scale(self.ctxt, 0.5, stack, 6).wait_result(), 15.0)
        self.assertEqual(x[1, 2], 5.0)
        addr = self.proc.alloc_mem(x.nbytes)
        for write, read in (
            (self.proc.write_mem, self.proc.read_mem),
            (lambda *args: self.ctxt.async_write_mem(*args).wait_result(),
             lambda *args: self.ctxt.async_read_mem(*args).wait_result()),
        ):  # fmt: skip
            write(addr, x, x.nbytes)
            y, flat = np.zeros_like(x, order="F"), np.zeros(6)
            read(y, addr, y.nbytes)
            read(flat, addr, flat.nbytes)
            self.assertTrue((y == x).all())
            self.assertEqual(flat.tolist(), [0, 3, 1, 4, 2, 5], "as in memory")
        view = memoryview(x)  # any exporter of such a buffer
        self.proc.write_mem(addr, view, 16)
        for gaps in (x[:, ::2], np.arange(10)[::2]):
            with self.assertRaises(ValueError):
                self.proc.write_mem(addr, gaps, 8)
            with self.assertRaises(ValueError):
                veo.OnStack(gaps)
        self.proc.free_mem(addr)

    def test_void(self):
        self.lib.nothing.args_type("void")
        self.lib.nothing.ret_type("void")
        self.assertIsNone(self.lib.nothing(self.ctxt).wait_result())
        with self.assertRaises(ValueError):
            self.lib.nothing(self.ctxt, 1)
        with self.assertRaises(TypeError):
            self.lib.nothing.args_type("int", "void")

    def test_is_ve_addr(self):
        tagged = self.proc.alloc_hmem(8)
        self.assertIs(veo.VEO_HMEM.is_ve_addr(tagged), True)
        self.assertIs(veo.VEO_HMEM.is_ve_addr(4096), False)
        self.proc.free_hmem(tagged)

    def test_clean_and_realclean(self):
        with tempfile.TemporaryDirectory() as folder:
            build = veo.VeBuild()
            build.set_build_dir(folder)
            build.set_c_src("one", "int one(void) { return 1; }")
            build.set_cpp_src("two", "extern \"C\" int two() { return 2; }")
            self.assertTrue(build.build_so("both"))
            everything = ["both.so", "one.c", "one.o", "two.cpp", "two.o"]
            self.assertEqual(sorted(os.listdir(folder)), everything)
            later = veo.VeBuild()  # of another run
            later.set_build_dir(folder)
            later.set_c_src("one", "")
            later.clean()
            self.assertEqual(sorted(os.listdir(folder)), [one for one in everything if one != "one.o"])
            build.clear()
            build.clean()
            self.assertEqual(sorted(os.listdir(folder)), ["both.so", "one.c", "two.cpp"])
            build.realclean()
            self.assertEqual(os.listdir(folder), [])

    def test_crash_and_any_order_of_ends(self):
        self.lib.crash.args_type()
        with self.assertRaises(ArithmeticError):
            self.lib.crash(self.ctxt).wait_result()
        other = veo.VeoProc(1)
        ctxt = other.open_context()
        other.proc_destroy()
        ctxt.context_close()
        del other, ctxt
        gc.collect()


if __name__ == "__main__":
    unittest.main()
