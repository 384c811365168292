// call_cxx: a main in C that calls functions in C++ (call_cxx_functions.cpp), which are offered under names.
// expect: greet: Hello, Ada
// expect: backwards: fedcba
// expect: count: 2 calls
// expect: HAM_ERROR_EXCEPTION: .*empty
#include <ham/ham.h>

#include <stdio.h>
#include <string.h>

static int call(const char* name, const char* argument) {
  char result[100];
  size_t bytes = 0;
  int status = ham_call(1, name, argument, strlen(argument), -1, result, sizeof result, &bytes);
  if (status == HAM_OK)
    printf("%s: %.*s\n", name, (int)bytes, result);
  else
    printf("%s: %s\n", ham_status_text(status), ham_error_message());
  return status;
}

int main(int argc, char** argv) {
  if (ham_start(&argc, &argv) != HAM_OK) {
    fprintf(stderr, "%s\n", ham_error_message());
    return 1;
  }
  if (call("greet", "Ada") != HAM_OK || call("backwards", "abcdef") != HAM_OK || call("count", "") != HAM_OK) return 1;
  if (call("greet", "") != HAM_ERROR_EXCEPTION) return 1;
  return ham_finish();
}
