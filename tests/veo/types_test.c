/* Arguments and results by the types of kernels, as their debug information has them, and what holds without.
 * argv: the library of typed kernels with debug information, the same without, with line numbers only, one of Fortran
 * kernels, a helper with all of them linked in; "-" for what could not be built. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <ve_offload.h>
#include <veo_ham.h>

#include "check.h"

union word {
  uint64_t bits;
  int64_t number;
  double real;
  struct {
    float low, high;
  } halves;
};
static uint64_t bits_of(double x) { return ((union word){.real = x}).bits; }
/* As py-veo has a float: in the upper half of its slot. */
static int64_t upper(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (int64_t)((uint64_t)bits << 32);
}

static struct veo_proc_handle* proc;
static uint64_t lib;

/* Calls, and empties the list of arguments. */
static union word call(const char* kernel, struct veo_args* args) {
  union word result = {.bits = 77};
  const uint64_t addr = veo_get_sym(proc, lib, kernel);
  CHECK(addr != 0 && veo_call_sync(proc, addr, args, &result.bits) == 0);
  veo_args_clear(args);
  return result;
}

static void numbers(struct veo_args* args) {
  for (int again = 0; again < 3; ++again) {
    veo_args_set_double(args, 0, 2.5), veo_args_set_i32(args, 1, -4), veo_args_set_float(args, 2, 0.5F);
    CHECK(call("scale", args).real == -9.5);
    veo_args_set_i64(args, 0, (int64_t)bits_of(2.5)), veo_args_set_i64(args, 1, -4);
    veo_args_set_i64(args, 2, upper(0.5F));
    CHECK(call("scale", args).real == -9.5);
    veo_args_set_float(args, 0, 2.5F), veo_args_set_u64(args, 1, 0xFFFFFFFF00000003);
    veo_args_set_double(args, 2, 0.5);
    CHECK(call("scale", args).real == 8.0);
  }
  veo_args_set_float(args, 0, 6), veo_args_set_double(args, 1, 3);
  union word word = call("shrink", args);
  CHECK(word.halves.low == 2 && word.halves.high == 2);
  veo_args_set_double(args, 0, 1.5), veo_args_set_float(args, 1, 1);
  CHECK(call("as_integers", args).bits == bits_of(1.5)); /* the bits of a slot, as on a Vector Engine */

  veo_args_set_double(args, 0, 1), veo_args_set_double(args, 1, 2), veo_args_set_i32(args, 2, 3);
  veo_args_set_double(args, 3, 0.5);
  CHECK(call("complex_first", args).real == 321.5); /* what follows a parameter of several slots goes as it is set */
  char buffer[8] = "intact";
  veo_args_set_stack(args, VEO_INTENT_INOUT, 0, buffer, sizeof buffer);
  call("no_pointer", args); /* whose parameter is no pointer */
  CHECK(strcmp(buffer, "intact") == 0);

  double expected = 0;
  for (int i = 0; i < 18; ++i) {
    expected += (i + 1) * (i + (i % 2 ? 0 : 0.25));
    if (i % 2) veo_args_set_i64(args, i, i);
    if (!(i % 2) && i < 6) veo_args_set_double(args, i, i + 0.25);
    if (!(i % 2) && i >= 6) veo_args_set_u64(args, i, bits_of(i + 0.25));
  }
  veo_args_set_i64(args, 18, upper(0.5F));
  CHECK(call("many", args).real == expected + 9.5);
}

static void integers(struct veo_args* args) {
  veo_args_set_i64(args, 0, 0x1FF), veo_args_set_i64(args, 1, -1), veo_args_set_i64(args, 2, 0x7FFFFFFE);
  veo_args_set_i32(args, 3, -2), veo_args_set_u32(args, 4, 4294967293U);
  veo_args_set_i32(args, 5, -3), veo_args_set_i64(args, 6, 1);
  CHECK(call("narrow", args).number == 1);
  CHECK(call("minus_one", args).number == -1 && call("two_hundred", args).number == 200);
  CHECK(call("minus_three", args).number == -3 && call("largest", args).number == 4294967295);
  CHECK(call("wide", args).number == 0x100000001);
  veo_ham_args_set_result(args, VEO_HAM_RESULT_I32);
  CHECK(call("wide", args).number == 1);
  veo_ham_args_set_result(args, VEO_HAM_RESULT_U8);
  CHECK(call("minus_one", args).number == 255);
  call("nothing", args);
  CHECK(call("calls_of_nothing", NULL).number == 1);
}

/* More arguments than parameters, and fewer. */
static void counts(struct veo_args* args) {
  veo_args_set_i32(args, 0, 3), veo_args_set_double(args, 1, 1), veo_args_set_float(args, 2, 2);
  veo_args_set_double(args, 3, 4);
  CHECK(call("sum_of", args).real == 7);
  veo_args_set_double(args, 0, 1.5), veo_args_set_i64(args, 1, 3);
  CHECK(call("old_style", args).real == 4.5);
  veo_args_set_double(args, 0, 2);
  CHECK(call("scale", args).real == 0);
  veo_args_set_double(args, 0, 2), veo_args_set_i32(args, 1, 3), veo_args_set_float(args, 2, 1);
  for (int i = 3; i < 40; ++i) veo_args_set_double(args, i, i);
  CHECK(call("scale", args).real == 7);
}

static void fortran(struct veo_args* args) {
  const double x = 1.5;
  const int n = 4;
  veo_args_set_stack(args, VEO_INTENT_IN, 0, (char*)&x, sizeof x);
  veo_args_set_stack(args, VEO_INTENT_IN, 1, (char*)&n, sizeof n);
  CHECK(call("times_", args).real == 6);
  veo_args_set_i64(args, 0, (int64_t)bits_of(1.5)), veo_args_set_i64(args, 1, -4);
  veo_args_set_i64(args, 2, upper(0.5F));
  CHECK(call("scale_by_value", args).real == -5.5);
}

/* Clients delete a library once it is loaded, and load another one in its place. */
static void gone(const char* with, struct veo_args* args) {
  char copy[] = "/tmp/ham-types-XXXXXX", text[4096];
  for (int round = 0; round < 3; ++round) {
    const int from = open(with, O_RDONLY), to = round == 0 ? mkstemp(copy) : open(copy, O_RDWR | O_CREAT, 0600);
    CHECK(from >= 0 && to >= 0);
    for (ssize_t n; (n = read(from, text, sizeof text)) > 0;) CHECK(write(to, text, (size_t)n) == n);
    close(from);
    close(to);
    lib = veo_load_library(proc, copy);
    CHECK(lib != 0 && veo_load_library(proc, copy) == lib && unlink(copy) == 0);
    if (round != 0) CHECK(veo_unload_library(proc, lib) == 0); /* it stays as often as it was loaded */
    veo_args_set_i64(args, 0, (int64_t)bits_of(3)), veo_args_set_i64(args, 1, 5), veo_args_set_i64(args, 2, 0);
    CHECK(call("scale", args).real == 15 && veo_unload_library(proc, lib) == 0);
    if (round == 0) CHECK(veo_unload_library(proc, lib) == 0);
  }
}

/* A helper that writes its errors to where `told` counts in them. */
static int errors = -1;
static struct veo_proc_handle* start(char* helper) {
  if (errors < 0) errors = open("/tmp", O_TMPFILE | O_RDWR | O_APPEND, 0600);
  const int own = dup(STDERR_FILENO);
  CHECK(errors >= 0 && own >= 0 && dup2(errors, STDERR_FILENO) == STDERR_FILENO);
  struct veo_proc_handle* started = helper == NULL ? veo_proc_create(0) : veo_proc_create_static(0, helper);
  CHECK(dup2(own, STDERR_FILENO) == STDERR_FILENO && close(own) == 0 && started != NULL);
  return started;
}
static int told(const char* what) {
  static char text[1 << 16];
  const ssize_t n = pread(errors, text, sizeof text - 1, 0);
  int count = 0;
  text[n < 0 ? 0 : n] = 0;
  for (const char* at = text; (at = strstr(at, what)) != NULL; at += strlen(what)) ++count;
  return count;
}

/* Setters decide, and a kernel that gets a floating-point number is warned of once. */
static void without(const char* library, const char* why, struct veo_args* args) {
  if (strcmp(library, "-") == 0) return;
  const int told_before = told("veo:");
  proc = start(NULL);
  lib = veo_load_library(proc, library);
  veo_args_set_i64(args, 0, 5), veo_args_set_u32(args, 1, 6);
  CHECK(call("as_integers", args).number == 11 && told("veo:") == told_before);
  struct veo_thr_ctxt* ctx[2] = {veo_context_open(proc), veo_context_open(proc)};
  for (int i = 0; i < 10; ++i) {
    veo_args_set_double(args, 0, 2.5), veo_args_set_i32(args, 1, -4), veo_args_set_float(args, 2, 0.5F);
    const uint64_t req = veo_call_async_by_name(ctx[i % 2], lib, "scale", args);
    CHECK(veo_call_wait_result(ctx[i % 2], req, NULL) == VEO_COMMAND_OK);
    veo_ham_args_set_result(args, VEO_HAM_RESULT_DOUBLE);
    CHECK(call("scale", args).real == -9.5);
    veo_args_set_float(args, 0, 6), veo_args_set_double(args, 1, 3);
    veo_ham_args_set_result(args, VEO_HAM_RESULT_FLOAT);
    CHECK(call("shrink", args).halves.low == 2);
  }
  CHECK(told("veo: the types of kernel scale in ") == told_before + 1 && told(why) == 1 && told("shrink") == 0);
  CHECK(veo_proc_destroy(proc) == 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 6);
  struct veo_args* args = veo_args_alloc();
  proc = start(NULL);
  lib = veo_load_library(proc, argv[1]);
  numbers(args);
  integers(args);
  counts(args);
  gone(argv[1], args);
  if (strcmp(argv[4], "-") != 0) {
    lib = veo_load_library(proc, argv[4]);
    fortran(args);
  }
  CHECK(veo_proc_destroy(proc) == 0);
  if (strcmp(argv[5], "-") != 0) {
    proc = start(argv[5]);
    lib = 0;
    numbers(args);
    integers(args);
    if (strcmp(argv[4], "-") != 0) fortran(args);
    CHECK(veo_proc_destroy(proc) == 0);
  }
  CHECK(told("veo:") == 0);
  without(argv[2], "compiled without -g", args);
  without(argv[3], "compiled with -g1", args);
  veo_args_free(args);
  return 0;
}
