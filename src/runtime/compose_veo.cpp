// ham_main: where VEO starts the application on a Vector Engine (paper 1, Fig. 4).
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

#include "base/clock.hpp"
#include "base/heap.hpp"
#include "ham/msg/thread_pool.hpp"
#include "runtime/compose.hpp"
#include "runtime/options.hpp"
#include "transport/vedma/target_transport.hpp"
#include "transport/veo/target_transport.hpp"

namespace ham::detail {
namespace {

namespace veo = transport::veo;

/// No other machine is reached from here.
class behind_veo final : public job {
 public:
  explicit behind_veo(transport::transport& only) : only_(only) {}
  std::int64_t connect(node_t peer) override {
    only_.connect(peer);
    return base::never_ns;
  }
  void hear(node_t, std::span<const std::byte>) override {}
  node_t add(const std::string&) override { refuse(); }
  node_t add(const offload::target_program&) override { refuse(); }
  node_t spawn(const std::string&, const std::string&) override { refuse(); }
  void remove(node_t, std::chrono::milliseconds) override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw config_error("only the host, node 0, adds and removes nodes; call it there");
  }
  transport::transport& only_;
};

std::unique_ptr<veo::veo_target> make_transport(veo::welcome& said, engine& target) {
  switch (said.place) {
    case veo::ring_place::engine_memory: return std::make_unique<veo::target_transport>(said, target);
    case veo::ring_place::host_segment: return std::make_unique<transport::vedma::target_transport>(said, target);
  }
  throw config_error(
      "ham_main was told of a ring in a place unknown here; build host and target from the same release");
}

void run_veo_target(veo::welcome& said) {
  if (!said.sane()) {
    throw config_error("ham_main was called by another release of HAM; build host and target from the same one");
  }
  engine target(said.node, said.nodes, std::make_unique<base::heap>(base::heap::make_file()));
  target.limit_messages(message_limit());
  std::unique_ptr<veo::veo_target> transport = make_transport(said, target);
  veo::veo_target& joining = *transport;
  behind_veo whole(joining);
  target.belong_to(&whole);
  target.use(std::move(transport));
  engine* const before = process_engine();
  set_process_engine(&target);
  joining.join();
  target.serve();
  msg::thread_pool::process().shutdown();
  target.leave();
  set_process_engine(before);
}

}  // namespace
}  // namespace ham::detail

/// Called once in a process that VEO made, with the address of what the host has left there. Returns when the job has
/// ended: 0, or 1 if this target could not take part.
extern "C" std::uint64_t ham_main(std::uint64_t welcome) {
  try {
    ham::detail::run_veo_target(*reinterpret_cast<ham::transport::veo::welcome*>(static_cast<std::uintptr_t>(welcome)));
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "ham: %s\n", problem.what());
    return 1;
  }
}
