// aveorun: the process that runs kernels, started by libveo or waiting for hosts of other machines.
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "crash.hpp"
#include "ham/offload/detail/standard_descriptors.hpp"
#include "helper.hpp"
#include "host_line.hpp"
#include "pinning.hpp"
#include "profile.hpp"
#include "settings.hpp"

namespace {

/// Kernels of the main context run on this thread: the stack that a Vector Engine gives them, taken as it is used.
void make_room_for_kernels() {
  constexpr rlim_t wanted = rlim_t{64} << 20;
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? wanted : std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_STACK, &limit);
}

bool has_work(int argc, char** argv) {
  if (ham::veo::has_variable("HAM_TARGET")) return true;
  return std::any_of(argv, argv + argc, [](const char* one) { return std::strncmp(one, "--ham-", 6) == 0; });
}

}  // namespace

int main(int argc, char** argv) {
  ham::detail::occupy_standard_descriptors();
  if (!has_work(argc, argv)) {
    std::fprintf(stderr,
                 "aveorun runs kernels for programs that use libveo, which start it by themselves. On a machine of its "
                 "own:\n  aveorun --ham-serve=ADDRESS:PORT --ham-key=FILE\nand there HAM_VEO_NODES=\"0=tcp://"
                 "ADDRESS:PORT\" and HAM_KEY=FILE.\n");
    return EXIT_FAILURE;
  }
  make_room_for_kernels();
  // Arguments from the host that has started this process have no limit but memory. Hosts of other machines have the
  // usual one.
  if (ham::veo::has_variable("HAM_TARGET")) ::setenv("HAM_MAX_MESSAGE", "1024G", 0);
  ham::veo::catch_faults();
  if (argc > 0 && ham::veo::wants_profile(argv[0])) ham::veo::profile::start();
  ham::veo::belong_to(0);
  ham::veo::this_helper() = new ham::veo::helper;
  try {
    ham::veo::pin_helper();
    ham::runtime_options options;
    options.nodes = "none";
    options.plain_output = true;
    const ham::runtime serving(argc, argv, options);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "aveorun: %s\n", problem.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
