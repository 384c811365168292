// ham_mpi_without WHAT RANKS PROGRAM [WORD]...: starts a program on a rank that lacks something. WHAT: names of system
// calls that are refused, as by a filter (NAME) or an old kernel (NAME/ENOSYS), or descriptors=N, with commas between
// them; RANKS: all, or the number of one. 77: system calls cannot be refused here.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

#include "forbidden_calls.hpp"

namespace {

constexpr ham::test::named_call calls[] = {{"membarrier", SYS_membarrier},
                                           {"pidfd_open", SYS_pidfd_open},
                                           {"process_vm_readv", SYS_process_vm_readv},
                                           {"process_vm_writev", SYS_process_vm_writev},
#ifdef SYS_futex_waitv
                                           {"futex_waitv", SYS_futex_waitv},
#endif
                                           {"memfd_create", SYS_memfd_create},
                                           {"userfaultfd", SYS_userfaultfd},
                                           {"timerfd_create", SYS_timerfd_create},
                                           {"sched_setaffinity", SYS_sched_setaffinity}};

bool take_away(const std::string& what) {
  constexpr std::string_view descriptors = "descriptors=";
  if (what.starts_with(descriptors)) {
    const auto count = static_cast<rlim_t>(std::atoi(what.c_str() + descriptors.size()));
    const rlimit both{count, count};
    return ::setrlimit(RLIMIT_NOFILE, &both) == 0;
  }
  const std::string_view name = std::string_view(what).substr(0, what.find('/'));
  const int error = what.ends_with("/ENOSYS") ? ENOSYS : EPERM;
  const auto* const found = std::find_if(std::begin(calls), std::end(calls),
                                         [&](const ham::test::named_call& one) { return one.name == name; });
  if (found == std::end(calls)) {
    std::fprintf(stderr, "ham_mpi_without: cannot take away %s\n", what.c_str());
    std::exit(2);
  }
  return ham::test::forbid(found->number, error);
}

/// Of this process, as the launcher says. Empty: it does not.
std::string own_rank() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    if (const char* const rank = std::getenv(name)) return rank;
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string ranks = argv[2];
  if (ranks == "all" || ranks == own_rank()) {
    std::istringstream all(argv[1]);
    for (std::string what; std::getline(all, what, ',');) {
      if (!take_away(what)) return 77;
    }
  }
  ::execv(argv[3], argv + 3);
  std::perror(argv[3]);
  return 2;
}
