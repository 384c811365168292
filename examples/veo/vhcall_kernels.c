// The kernel of vhcall.c. Linked with -lvhcall.
#include <libvhcall.h>

int64_t sum_up(void) {
  const vhcall_handle host = vhcall_install("./libvhcall_host.so");
  if (host == VHCALL_HANDLE_INVALID) return -1;
  const int64_t report = vhcall_find(host, "report"), number_of_terms = vhcall_find(host, "number_of_terms");

  // By an argument list: any signature.
  int64_t terms = 0;
  vhcall_args* args = vhcall_args_alloc();
  vhcall_args_set_pointer(args, VHCALL_INTENT_OUT, 0, &terms, sizeof terms);
  vhcall_args_set_double(args, 1, 0.5);
  if (vhcall_invoke_with_args(number_of_terms, args, NULL) != 0) return -1;
  vhcall_args_free(args);

  int64_t sum = 0;
  for (int64_t i = 1; i <= terms; ++i) {
    sum += i;
    const int percent = (int)(100 * i / terms);
    if (i % (terms / 2) == 0) vhcall_invoke(report, &percent, sizeof percent, NULL, 0);
  }
  vhcall_uninstall(host);
  return sum;
}
