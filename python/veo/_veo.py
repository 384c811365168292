"""Procs, contexts, libraries, functions and requests with the names and behaviours of py-veo."""
import collections
import numbers
import struct
import weakref

from ._library import INVALID, address, buffer_of, ffi, lib, name_of, number

_veo_api_version = lib.veo_api_version()
_veo_version = ffi.string(lib.veo_version_string()).decode()
_veo_max_num_args = 256

INTENT_IN, INTENT_INOUT, INTENT_OUT = range(3)
STATE_UNKNOWN, STATE_RUNNING, STATE_SYSCALL, STATE_BLOCKED, STATE_EXIT = range(5)
COMMAND_OK, COMMAND_EXCEPTION, COMMAND_ERROR, COMMAND_UNFINISHED = range(4)

# Width in bytes and sign of integers; what veo_ham_args_set_result wants.
_INTEGERS = {
    "char": (1, True, 3), "short": (2, True, 2), "int": (4, True, 1), "int32_t": (4, True, 1),
    "long": (8, True, 0), "int64_t": (8, True, 0), "unsigned char": (1, False, 6),
    "unsigned short": (2, False, 5), "unsigned int": (4, False, 4), "uint32_t": (4, False, 4),
    "unsigned long": (8, False, 0), "uint64_t": (8, False, 0),
}  # fmt: skip
_RESULT_DOUBLE, _RESULT_FLOAT = 7, 8

_init_hooks = []


def set_proc_init_hook(function):
    """`function(proc)` runs at the end of every VeoProc construction."""
    _init_hooks.append(function)


def del_proc_init_hook(function):
    _init_hooks.remove(function)


def get_ve_arch(node):
    return lib.veo_get_ve_arch(node)


def _check_type(name):
    name = name.decode() if isinstance(name, bytes) else name
    if not isinstance(name, str) or not (name.endswith("*") or name in _INTEGERS or name in ("float", "double", "void")):
        raise TypeError(f"{name!r} is no type of an argument or result")
    return name


def _result_from(kind, bits):
    if kind == "void":
        return None
    if kind == "double":
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    if kind == "float":
        return struct.unpack("<f", struct.pack("<I", bits >> 32))[0]
    if kind.endswith("*"):
        return bits
    width, signed, _ = _INTEGERS[kind]
    return int.from_bytes((bits & ((1 << 8 * width) - 1)).to_bytes(width, "little"), "little", signed=signed)


class OnStack:
    """A buffer that a kernel gets as a pointer to a copy."""

    def __init__(self, buff, size=None, inout=INTENT_IN):
        self._buffer = buffer_of(buff)
        self._size = len(self._buffer) if size is None else size
        if self._size > len(self._buffer):
            raise ValueError(f"the buffer has {len(self._buffer)} bytes, less than {self._size}")
        self._inout = inout

    def size(self):
        return self._size

    def scope(self):
        return self._inout

    def c_pointer(self):
        return number(self._buffer)


class VeoArgs:
    """A list of arguments."""

    def __init__(self):
        self._args = ffi.gc(lib.veo_args_alloc(), lib.veo_args_free)
        self.stacks = []

    def _done(self, code):
        if code != 0:
            raise ValueError("the argument cannot be set")

    def set_i32(self, n, value):
        self._done(lib.veo_args_set_i32(self._args, n, value))

    def set_i64(self, n, value):
        self._done(lib.veo_args_set_i64(self._args, n, value))

    def set_u32(self, n, value):
        self._done(lib.veo_args_set_u32(self._args, n, value))

    def set_u64(self, n, value):
        self._done(lib.veo_args_set_u64(self._args, n, value))

    def set_float(self, n, value):
        self._done(lib.veo_args_set_float(self._args, n, value))

    def set_double(self, n, value):
        self._done(lib.veo_args_set_double(self._args, n, value))

    def set_stack(self, stack, n):
        self._done(lib.veo_args_set_stack(self._args, stack.scope(), n, stack._buffer, stack.size()))
        self.stacks.append(stack)

    def clear(self):
        lib.veo_args_clear(self._args)
        self.stacks = []


class VEMemPtr:
    """Memory of a proc, as older programs hold it; an int where an address is wanted."""

    def __init__(self, proc, addr, size):
        self.proc, self.addr, self.size = proc, addr, size

    def __index__(self):
        return self.addr

    __int__ = __index__

    def __add__(self, offset):
        return VEMemPtr(self.proc, self.addr + offset, self.size - offset)


class _Request:
    def __init__(self, ctxt, req, keep):
        self.ctx, self.req = ctxt, req
        self._keep = keep

    def _fetch(self, function):
        value = ffi.new("uint64_t *", INVALID)
        state = function(self.ctx._ctxt, self.req, value)
        if state == COMMAND_UNFINISHED:
            raise NameError("the request has not finished")
        # Another thread may have taken the result, or be waiting for it: then the value is untouched.
        if state in (COMMAND_OK, COMMAND_EXCEPTION) or value[0] != INVALID:
            self._keep = None
            self.ctx._release(self.req)
        if state == COMMAND_EXCEPTION:
            raise ArithmeticError(f"the kernel has raised signal {value[0]}")
        if state != COMMAND_OK:
            raise RuntimeError("the request has failed")
        return self._convert(value[0])

    def wait_result(self):
        return self._fetch(lib.veo_call_wait_result)

    def peek_result(self):
        return self._fetch(lib.veo_call_peek_result)


class VeoRequest(_Request):
    """A call of a kernel."""

    def __init__(self, ctxt, req, keep, kind):
        super().__init__(ctxt, req, keep)
        self._kind = kind

    def _convert(self, bits):
        return _result_from(self._kind, bits)


class VeoMemRequest(_Request):
    """A transfer of memory. Its context keeps the buffer until it is done, also if the request is dropped."""

    def _convert(self, bits):
        return bits


class VeoFunction:
    """A kernel, called as `f(ctx, *args)` once args_type was given."""

    def __init__(self, library, addr, name):
        self.lib, self.addr, self.name = library, addr, name
        self._args_type = None
        self._ret_type = "int"

    def __repr__(self):
        return f"<VeoFunction {self.name.decode()} at {self.addr:#x}>"

    def args_type(self, *types):
        """The types of the parameters; none, or "void" alone, for a kernel without."""
        kinds = [_check_type(one) for one in types]
        if kinds == ["void"]:
            kinds = []
        if "void" in kinds:
            raise TypeError("'void' is no type of an argument")
        self._args_type = kinds

    def ret_type(self, kind):
        self._ret_type = _check_type(kind)

    def _set(self, args, n, kind, value):
        value = getattr(value, "_ve_array", value)
        if isinstance(value, OnStack):
            args.set_stack(value, n)
        elif kind == "double":
            args.set_double(n, float(value))
        elif kind == "float":
            args.set_float(n, float(value))
        elif kind.endswith("*"):
            if hasattr(value, "__array_interface__") and getattr(value, "ndim", 0) > 0:
                inout = INTENT_INOUT if value.flags.writeable else INTENT_IN
                args.set_stack(OnStack(value, inout=inout), n)
            else:
                args.set_u64(n, int(value) & INVALID)
        else:
            width, signed, _ = _INTEGERS[kind]
            bits = int(value) & ((1 << 8 * width) - 1)
            if signed and bits >> (8 * width - 1):
                bits -= 1 << 8 * width
            (args.set_i64 if signed else args.set_u64)(n, bits)

    def __call__(self, ctxt, *values):
        if self._args_type is None:
            raise RuntimeError("args_type was not called for this function")
        if len(values) > _veo_max_num_args:
            raise ValueError(f"more than {_veo_max_num_args} arguments")
        if len(values) != len(self._args_type):
            raise ValueError(f"{len(values)} arguments for {len(self._args_type)} parameters")
        args = VeoArgs()
        for n, (kind, value) in enumerate(zip(self._args_type, values)):
            self._set(args, n, kind, value)
        if self._ret_type == "double":
            lib.veo_ham_args_set_result(args._args, _RESULT_DOUBLE)
        elif self._ret_type == "float":
            lib.veo_ham_args_set_result(args._args, _RESULT_FLOAT)
        elif self._ret_type in _INTEGERS:
            lib.veo_ham_args_set_result(args._args, _INTEGERS[self._ret_type][2])
        req = lib.veo_call_async(ctxt._ctxt, self.addr, args._args)
        if req == INVALID:
            return None
        if any(stack.scope() != INTENT_IN for stack in args.stacks):
            ctxt._retain(req, args.stacks)
        return VeoRequest(ctxt, req, (args, values), self._ret_type)


class VeoLibrary:
    """A library of kernels; its functions are its attributes."""

    def __init__(self, proc, name, handle):
        self.proc, self.name, self.lib_handle = proc, name, handle
        self.func, self.symbol = {}, {}

    def get_symbol(self, name):
        key = name_of(name)
        if key not in self.symbol:
            addr = lib.veo_get_sym(self.proc._handle, self.lib_handle, key)
            if addr == 0:
                raise RuntimeError(f"there is no symbol {key.decode()}")
            self.symbol[key] = addr
        return self.symbol[key]

    def find_function(self, name):
        key = name_of(name)
        if key not in self.func:
            self.func[key] = VeoFunction(self, self.get_symbol(key), key)
        return self.func[key]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.find_function(name)


def _close_context(handle, is_main, retained):
    lib.veo_context_close(handle)
    if not is_main:  # which stays as it is until the end of the proc
        retained.pop(number(handle), None)


class VeoCtxt:
    """A context; the first one of a proc is its main context."""

    def __init__(self, proc):
        self.proc = proc
        self._ctxt = lib.veo_context_open(proc._handle)
        if self._ctxt == ffi.NULL:
            raise RuntimeError("no context could be opened")
        self._thr_ctxt = number(self._ctxt)
        self.tid = 0
        # What requests read or write, by their numbers, which are in the order of their ends.
        self._retained = proc._retained.setdefault(self._thr_ctxt, collections.deque())
        is_main = lib.veo_get_context(proc._handle, 0) == self._ctxt
        self._end = weakref.finalize(self, _close_context, self._ctxt, is_main, proc._retained)

    def _retain(self, req, what):
        self._retained.append((req, what))

    def _release(self, last):
        """All requests up to this one are done. Any thread."""
        while self._retained:
            try:
                entry = self._retained.popleft()
            except IndexError:
                return
            if entry[0] > last:
                self._retained.appendleft(entry)
                return

    def _transfer(self, function, buff, arguments, size):
        view = buffer_of(buff)
        if size > len(view):
            raise ValueError(f"the buffer has {len(view)} bytes, less than {size}")
        req = function(self._ctxt, *arguments(view), size)
        if req == INVALID:
            raise RuntimeError("the transfer could not be submitted")
        self._retain(req, view)
        return VeoMemRequest(self, req, view)

    def async_read_mem(self, dst, addr, size):
        return self._transfer(lib.veo_async_read_mem, dst, lambda view: (view, int(addr)), size)

    def async_write_mem(self, addr, src, size):
        return self._transfer(lib.veo_async_write_mem, src, lambda view: (int(addr), view), size)

    def context_sync(self):
        last = max((req for req, _ in list(self._retained)), default=-1)
        lib.veo_context_sync(self._ctxt)
        if lib.veo_get_context_state(self._ctxt) == STATE_RUNNING:  # else it may have returned before their ends
            self._release(last)

    def context_close(self):
        self._end()
        if self in self.proc.context:
            self.proc.context.remove(self)


def _destroy_proc(handle, retained):
    lib.veo_proc_destroy(handle)
    retained.clear()


class VeoProc:
    """A helper process."""

    def __init__(self, nodeid, veorun_bin=None):
        self.nodeid, self.tid = nodeid, 0
        self.context, self.lib = [], {}
        self._retained = {}  # of its contexts, by their handles
        if veorun_bin is None:
            self._handle = lib.veo_proc_create(nodeid)
        else:
            self._handle = lib.veo_proc_create_static(nodeid, name_of(veorun_bin))
        if self._handle == ffi.NULL:
            raise RuntimeError(f"no helper could be started for node {nodeid}")
        self._proc_handle = number(self._handle)
        self._end = weakref.finalize(self, _destroy_proc, self._handle, self._retained)
        for hook in _init_hooks:
            hook(self)

    def load_library(self, libname):
        name = name_of(libname)
        handle = lib.veo_load_library(self._handle, name)
        if handle == 0:
            raise RuntimeError(f"{name.decode()} cannot be loaded")
        self.lib[name] = VeoLibrary(self, name, handle)
        return self.lib[name]

    def static_library(self):
        """What was linked into the helper."""
        return self.lib.setdefault(b"__static__", VeoLibrary(self, b"__static__", 0))

    def unload_library(self, library):
        if lib.veo_unload_library(self._handle, library.lib_handle) != 0:
            raise RuntimeError("the library cannot be unloaded")
        self.lib.pop(library.name, None)

    def get_function(self, name):
        """From any library of this proc; None if none has it."""
        for library in self.lib.values():
            try:
                return library.find_function(name)
            except RuntimeError:
                continue
        return None

    def alloc_mem(self, size):
        addr = ffi.new("uint64_t *")
        if lib.veo_alloc_mem(self._handle, addr, size) != 0:
            raise MemoryError(f"no {size} bytes in the helper")
        return addr[0]

    def free_mem(self, addr):
        if lib.veo_free_mem(self._handle, int(addr)) != 0:
            raise RuntimeError("the memory cannot be freed")

    def alloc_hmem(self, size):
        addr = ffi.new("void **")
        if lib.veo_alloc_hmem(self._handle, addr, size) != 0:
            raise MemoryError(f"no {size} bytes in the helper")
        return number(addr[0])

    def free_hmem(self, addr):
        if lib.veo_free_hmem(address(addr)) != 0:
            raise RuntimeError("the memory cannot be freed")

    def _view(self, buff, size):
        view = buffer_of(buff)
        if size > len(view):
            raise ValueError(f"the buffer has {len(view)} bytes, less than {size}")
        return view

    def read_mem(self, dst, addr, size):
        if lib.veo_read_mem(self._handle, self._view(dst, size), int(addr), size) != 0:
            raise RuntimeError("the memory cannot be read")

    def write_mem(self, addr, src, size):
        if lib.veo_write_mem(self._handle, int(addr), self._view(src, size), size) != 0:
            raise RuntimeError("the memory cannot be written")

    def open_context(self):
        fresh = VeoCtxt(self)
        self.context.append(fresh)
        return fresh

    def close_context(self, ctxt):
        ctxt.context_close()

    def proc_identifier(self):
        ident = lib.veo_proc_identifier(self._handle)
        if ident < 0:
            raise RuntimeError("the proc has been destroyed")
        return ident

    def set_proc_identifier(self, addr, ident):
        tagged = lib.veo_set_proc_identifier(address(addr), ident)
        if tagged == ffi.NULL:
            raise RuntimeError(f"{ident} is no identifier of a tag")
        return number(tagged)

    def i64_to_addr(self, x):
        return x & INVALID

    def proc_destroy(self):
        self._end()


class VEO_HMEM:
    """Pointers with a tag."""

    @staticmethod
    def is_ve_addr(addr):
        return bool(lib.veo_is_ve_addr(address(addr)))

    @staticmethod
    def get_hmem_addr(addr):
        return number(lib.veo_get_hmem_addr(address(addr)))

    @staticmethod
    def get_proc_identifier_from_hmem(addr):
        return lib.veo_get_proc_identifier_from_hmem(address(addr))

    @staticmethod
    def get_proc_handle_from_hmem(addr):
        handle = lib.veo_get_proc_handle_from_hmem(address(addr))
        if handle == ffi.NULL:
            raise RuntimeError("the address has no tag, or that of no proc")
        return number(handle)

    @staticmethod
    def _pointer(what):
        return address(what) if isinstance(what, (numbers.Integral, VEMemPtr)) else buffer_of(what)

    @staticmethod
    def hmemcpy(dst, src, size):
        if lib.veo_hmemcpy(VEO_HMEM._pointer(dst), VEO_HMEM._pointer(src), size) < 0:
            raise RuntimeError("the memory cannot be copied")
