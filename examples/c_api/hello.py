#!/usr/bin/env python3
"""hello.py LIBHAM: Python that calls functions in Python on a target, through ham/ham.h and ctypes.

An interpreter loads the library late, so its targets are asked for by their program: exec:PYTHON starts the same script
again, which registers its functions and is a target from ham_start_nodes on.
"""
# expect: a target has made HELLO of it
# expect: HAM_ERROR_FUNCTION: .*ended with code 8: shout takes text
# expect: memory of the target: \[0, 1, 4, 9\]
import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p


class Buffer(ctypes.Structure):
    _fields_ = [("address", c_uint64), ("tag", c_uint64), ("size", c_uint64), ("node", c_int32)]


FUNCTION = ctypes.CFUNCTYPE(c_int, c_void_p, c_size_t, c_void_p, c_void_p)

ham = ctypes.CDLL(sys.argv[1])
ham.ham_error_message.restype = c_char_p
ham.ham_status_text.restype = c_char_p
ham.ham_register.argtypes = [c_char_p, FUNCTION, c_void_p]
ham.ham_set_result.argtypes = [c_void_p, c_char_p, c_size_t]
ham.ham_fail.argtypes = [c_void_p, c_char_p]
ham.ham_call.argtypes = [c_int32, c_char_p, c_char_p, c_size_t, c_int64, c_char_p, c_size_t, POINTER(c_size_t)]
ham.ham_allocate.argtypes = [c_int32, c_size_t, POINTER(Buffer)]
ham.ham_put.argtypes = [c_void_p, POINTER(Buffer), c_size_t, c_size_t]
ham.ham_get.argtypes = [POINTER(Buffer), c_size_t, c_void_p, c_size_t]


def check(status):
    if status != 0:
        raise RuntimeError(f"{ham.ham_status_text(status).decode()}: {ham.ham_error_message().decode()}")


@FUNCTION
def shout(argument, size, reply, user):
    try:
        text = ctypes.string_at(argument, size).decode("ascii")
    except UnicodeDecodeError:
        return ham.ham_fail(reply, b"shout takes text")
    result = text.upper().encode()
    return ham.ham_set_result(reply, result, len(result))


def call(node, name, argument):
    result = ctypes.create_string_buffer(1000)
    size = c_size_t()
    check(ham.ham_call(node, name.encode(), argument, len(argument), 10000, result, len(result), byref(size)))
    return result.raw[: size.value]


check(ham.ham_register(b"shout", shout, None))
check(ham.ham_start_nodes(f"exec:{sys.executable}".encode()))

print("a target has made", call(1, "shout", b"hello").decode(), "of it")
try:
    call(1, "shout", b"\xff")
except RuntimeError as error:
    print(error)

numbers = (c_int * 4)(0, 1, 4, 9)
there = Buffer()
check(ham.ham_allocate(1, ctypes.sizeof(numbers), byref(there)))
check(ham.ham_put(numbers, byref(there), 0, ctypes.sizeof(numbers)))
back = (c_int * 4)()
check(ham.ham_get(byref(there), 0, back, ctypes.sizeof(back)))
print("memory of the target:", list(back))
check(ham.ham_finish())
