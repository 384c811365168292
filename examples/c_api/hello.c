// hello: a program in C that calls functions by name on a target, and uses its memory.
// expect: node 1 says: hello from C, 11 bytes
// expect: the target has added up 1 to 100: 5050
// expect: HAM_ERROR_FUNCTION 3: "mean" ended with code 3: there are no numbers
// expect: HAM_ERROR_CALL: .*no function is called "median"
#include <ham/ham.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A function that others call: bytes in, bytes out. */
static int greet(const void* argument, size_t bytes, ham_reply* reply, void* user) {
  char text[100];
  int length = snprintf(text, sizeof text, "node %d says: %s, %.*s", (int)ham_this_node(), (const char*)user,
                        (int)bytes, (const char*)argument);
  return ham_set_result(reply, text, (size_t)length);
}

/* Arguments and results may be structs if all nodes lay them out alike. */
struct numbers {
  ham_buffer where;
  uint64_t count;
};

static int sum(const void* argument, size_t bytes, ham_reply* reply, void* user) {
  struct numbers what;
  void* values;
  double result = 0;
  (void)user;
  if (bytes != sizeof what) return ham_fail(reply, "a struct numbers is expected");
  memcpy(&what, argument, sizeof what);
  if (ham_local(&what.where, &values) != HAM_OK) return ham_fail(reply, ham_error_message());
  for (uint64_t i = 0; i < what.count; ++i) result += ((double*)values)[i];
  return ham_set_result(reply, &result, sizeof result);
}

static int mean(const void* argument, size_t bytes, ham_reply* reply, void* user) {
  (void)argument, (void)user;
  if (bytes == 0) {
    ham_fail(reply, "there are no numbers");
    return 3;
  }
  return 0;
}

static void check(int status) {
  if (status == HAM_OK) return;
  fprintf(stderr, "%s: %s\n", ham_status_text(status), ham_error_message());
  exit(1);
}

int main(int argc, char** argv) {
  char text[100];
  double values[100], result;
  size_t bytes;
  struct numbers there;
  ham_future *transfer, *call;
  int status;

  /* In every process, before the start: targets do not come back from it. */
  check(ham_register("greet", &greet, "hello from C"));
  check(ham_register("sum", &sum, NULL));
  check(ham_register("mean", &mean, NULL));
  check(ham_start(&argc, &argv));

  check(ham_call(1, "greet", "11 bytes", strlen("11 bytes"), -1, text, sizeof text, &bytes));
  printf("%.*s\n", (int)bytes, text);

  /* Memory of the target, filled while this process could do something else. */
  for (int i = 0; i < 100; ++i) values[i] = i + 1;
  check(ham_allocate(1, sizeof values, &there.where));
  check(ham_put_async(values, &there.where, 0, sizeof values, &transfer));
  check(ham_result(&transfer, NULL, 0, NULL));
  there.count = 100;
  check(ham_call_async(1, "sum", &there, sizeof there, 5000, &call));
  check(ham_wait(call, -1));
  check(ham_result(&call, &result, sizeof result, NULL));
  printf("the target has added up 1 to 100: %g\n", result);
  check(ham_free(&there.where));

  /* Errors are codes, with a text. */
  status = ham_call(1, "mean", NULL, 0, -1, NULL, 0, NULL);
  printf("%s %d: %s\n", ham_status_text(status), ham_error_function_code(), ham_error_message());
  status = ham_call(1, "median", NULL, 0, -1, NULL, 0, NULL);
  printf("%s: %s\n", ham_status_text(status), ham_error_message());
  return ham_finish();
}
