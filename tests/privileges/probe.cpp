// Says whether its caller is another user to it, what has become of the tcp module, and calls a function on a target.
#include <sys/auxv.h>

#include <cstdio>

#include "ham/offload.hpp"

namespace {

int twice(int value) { return 2 * value; }

}  // namespace

int main() {
  std::printf("privileged: %lu\n", ::getauxval(AT_SECURE));
  const ham::module_state tcp = ham::find_module("tcp");
  std::printf("tcp: %s\n", tcp.available ? "usable" : tcp.remark.c_str());
  std::printf("result: %d\n", ham::offload::sync(1, ham::fn<&twice>, 21));
}
