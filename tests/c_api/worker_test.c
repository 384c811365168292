/* A host in C, as a plug-in of another program may be: its targets are ham-worker, the first with the library that is
 * named on its command line, the second with none. */
#include <ham/ham.h>

#include <stdio.h>
#include <string.h>

#define CHECK(what)                                                                \
  do {                                                                             \
    if (!(what)) {                                                                 \
      printf("line %d: %s is wrong (%s)\n", __LINE__, #what, ham_error_message()); \
      return 1;                                                                    \
    }                                                                              \
  } while (0)

/* Calls "py_test.backwards" of tests/python/kernels.cpp. */
static int reverse(ham_node node, char* result) {
  return ham_call(node, "py_test.backwards", "abc", 3, 60000, result, 3, NULL);
}

int main(int argc, char** argv) {
  char result[4] = "";
  CHECK(argc == 3 && strcmp(argv[1], "--load") == 0); /* an option of this program: no worker takes it for its own */
  CHECK(ham_start(&argc, &argv) == HAM_OK);
  CHECK(ham_num_nodes() == 3);
  CHECK(reverse(1, result) == HAM_OK && strcmp(result, "cba") == 0);
  CHECK(reverse(2, result) == HAM_ERROR_CALL);
  CHECK(ham_load_library(2, "/no/such/library.so") == HAM_ERROR_CALL);
  CHECK(strstr(ham_error_message(), "/no/such/library.so") != NULL);
  CHECK(ham_load_library(2, argv[2]) == HAM_OK);
  CHECK(ham_load_library(2, argv[2]) == HAM_OK);
  memset(result, 0, sizeof result);
  CHECK(reverse(2, result) == HAM_OK && strcmp(result, "cba") == 0);
  CHECK(ham_load_library(3, argv[2]) == HAM_ERROR_CALL);
  CHECK(ham_finish() == HAM_OK);
  printf("all is well\n");
  return 0;
}
