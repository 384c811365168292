// Starting targets behind one-sided media.
#include "runtime/compose_accelerators.hpp"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "base/privileges.hpp"
#include "base/settings.hpp"

namespace ham::detail {

namespace emulated = transport::emulated;

namespace {

/// The application as a library for Vector Engines: HAM_VEO_APPLICATION, or beside this program under its name with
/// ".ve.so" behind it.
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

}  // namespace

void accelerators::check(const node_group& group) {
  if (group.transport == "emulated") static_cast<void>(emulated::parse_medium(group.settings));
}

void accelerators::start(const node_group& group, std::size_t member, const transport::child_keeper::plan& process,
                         std::uint32_t nodes) {
  if (group.transport == "veo")
    start_on_engine(veo_, member, process.node, nodes);
  else if (group.transport == "vedma")
    start_on_engine(vedma_, member, process.node, nodes);
  else
    start_emulated(group, process, nodes);
}

void accelerators::start_emulated(const node_group& group, const transport::child_keeper::plan& process,
                                  std::uint32_t nodes) {
  const emulated::medium costs = emulated::parse_medium(group.settings);
  if (emulated_ == nullptr) {
    auto made = std::make_unique<emulated::host_transport>(host_.memory().fd(), host_);
    emulated_ = made.get();
    host_.use(std::move(made));
  }
  emulated_->start({{process, costs, static_cast<std::uint32_t>(host_.living_nodes())}}, nodes);
}

template <class Host>
void accelerators::start_on_engine(Host*& host, std::size_t member, node_t node, std::uint32_t nodes) {
  if (host == nullptr) {
    auto made = std::make_unique<Host>(host_);
    host = made.get();
    host_.use(std::move(made));
  }
  host->start({node, static_cast<int>(member), application_library()}, nodes);
}

void accelerators::end(node_t node, std::chrono::milliseconds patience) {
  if (emulated_ != nullptr) emulated_->end(node, patience);
  if (veo_ != nullptr) veo_->end(node, patience);
  if (vedma_ != nullptr) vedma_->end(node, patience);
}

}  // namespace ham::detail
