// Host name, instruction set, cores and memory of this process.
#include "runtime/facts.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <string_view>

#include "base/process.hpp"

namespace ham::detail {
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

offload::node_descriptor::facts local_facts(node_t self) {
  offload::node_descriptor::facts facts;
  utsname system{};
  facts.name = ::uname(&system) == 0 ? system.nodename : "unknown";
  facts.isa = isa_name();
  facts.device_type = std::string_view(isa_name()) == "ve" ? "ve" : "cpu";
  facts.transport = "self";
  facts.cores = base::usable_cores();
  facts.memory_bytes =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  facts.pid = ::getpid();
  facts.node = self;
  return facts;
}

}  // namespace ham::detail
