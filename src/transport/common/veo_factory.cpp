// Groups of targets on Vector Engines, and what is started there.
#include "transport/common/veo_factory.hpp"

#include <unistd.h>

#include <array>
#include <climits>

#include "base/privileges.hpp"
#include "base/settings.hpp"
#include "transport/common/libveo.hpp"

namespace ham::inline v1::transport::veo {

target_group veo_factory::parse(group_text& text) const {
  target_group group(*this, text.take_count());
  text.expect_no_cores();
  text.expect_end();
  return group;
}

availability veo_factory::probe() const {
  return found_by([]() -> availability {
    static_cast<void>(libveo::get());
    return {true, "not tried: a target wants the application built for a Vector Engine (HAM_VEO_APPLICATION)", {}};
  });
}

std::string application_library() {
  if (std::string named = base::text_of(base::setting::veo_application); !named.empty()) return named;
  std::array<char, PATH_MAX> program{};
  if (::readlink("/proc/self/exe", program.data(), program.size() - 1) <= 0) {
    throw config_error("cannot read the name of this program; name the application's library in HAM_VEO_APPLICATION");
  }
  std::string library = std::string(program.data()) + ".ve.so";
  if (!base::only_root_can_replace(library)) {
    base::refuse_if_privileged("the library " + library + " can be replaced by others than root");
  }
  return library;
}

void veo_host_side::start(const target_group&, std::vector<start_plan> plans, job_size job) {
  for (const start_plan& one : plans) {
    carrier_.start({one.node, static_cast<int>(one.member), application_library()}, job.nodes);
  }
}

welcome& welcome_at(std::uint64_t address) {
  welcome& said = *reinterpret_cast<welcome*>(static_cast<std::uintptr_t>(address));
  if (!said.sane()) {
    throw config_error("ham_main was called by another release of HAM; build host and target from the same one");
  }
  return said;
}

}  // namespace ham::transport::veo
