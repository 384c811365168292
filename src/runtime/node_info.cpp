// Host name, instruction set, cores and memory of this process.
#include "runtime/node_info.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <string_view>

#include "base/process.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr const char* isa_name() noexcept {
#if defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#elif defined(__riscv)
  return "riscv64";
#elif defined(__powerpc64__)
  return "ppc64le";
#elif defined(__s390x__)
  return "s390x";
#elif defined(__ve__)
  return "ve";
#else
  return "unknown";
#endif
}

}  // namespace

offload::node_descriptor::info local_node_info(node_t self) {
  offload::node_descriptor::info info;
  utsname system{};
  info.name = ::uname(&system) == 0 ? system.nodename : "unknown";
  info.isa = isa_name();
  info.device_type = std::string_view(isa_name()) == "ve" ? "ve" : "cpu";
  info.transport = "self";
  info.cores = base::usable_cores();
  info.memory_bytes =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  info.pid = ::getpid();
  info.node = self;
  return info;
}

}  // namespace ham::detail
