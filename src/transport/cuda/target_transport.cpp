#include "transport/cuda/target_transport.hpp"

#include <string>
#include <utility>

#include "transport/common/joining.hpp"
#include "transport/common/mapped_memory.hpp"
#include "transport/cuda/driver_module.hpp"
#include "transport/cuda/emulated_device.hpp"
#include "transport/cuda/emulated_memory.hpp"

namespace ham::inline v1::transport::cuda {
namespace {

/// How long a frame may wait that a hostile process has kept from waking this one.
constexpr std::int64_t max_blind_ns = 200'000'000;

/// The GPU is the first one that this process sees: its host has seen to that (visible_gpus.hpp).
[[noreturn]] void decline_gpu(const invitation& from, const config_error& problem) {
  decline(from.control.get(), "its GPU " + std::to_string(from.said.device.gpu) + " cannot be used: " + problem.what());
}

std::unique_ptr<device_driver> open_device(const invitation& from) {
  const geometry& of = from.said.device;
  if (of.gpu == geometry::emulated) return std::make_unique<emulated_device>(of);
  try {
    return load_driver_module().open({of.blocks, of.warps * of.lanes},
                                     {device::detail::device_code_of_process(), &device::detail::function_at,
                                      &device::detail::count_number_variables, &device::detail::number_variable_at});
  } catch (const config_error& problem) {
    decline_gpu(from, problem);
  }
}

/// Behind the device, which takes what it needs first; before the resident kernel, while which nothing may be taken.
std::unique_ptr<device_memory> open_memory(const invitation& from) {
  const geometry& of = from.said.device;
  if (of.memory != memory_kind::device) return nullptr;
  if (of.gpu == geometry::emulated) return std::make_unique<emulated_memory>(of);
  try {
    return load_driver_module().open_memory(of.arena_bytes, of.nodes_on_gpu);
  } catch (const config_error& problem) {
    decline_gpu(from, problem);
  }
}

}  // namespace

invitation invitation::accept(int control_fd) {
  invitation result;
  result.control = base::unique_fd(control_fd);
  base::control_message message = receive_welcome(control_fd, result.said, welcome_fds);
  auto& fds = message.fds;
  result.bells = std::move(fds[0]);
  result.rings = std::move(fds[1]);
  result.own_heap = std::move(fds[2]);
  result.host_heap = std::move(fds[3]);
  result.own_event = std::move(fds[4]);
  result.host_event = std::move(fds[5]);
  if (base::file_size(result.bells.get()) < bell_page::bytes || base::file_size(result.rings.get()) < ring_pair::bytes)
    decline(control_fd,
            "the memory that this target shares with its host is too small; build both from the same release");
  return result;
}

target_transport::target_transport(invitation from, observer& to)
    : bell_page(std::move(from.bells), std::move(from.own_event)),
      ring_transport(bell_page::of(from.said.node), bell_page::event.get(), to),
      invitation_(std::move(from)),
      device_(open_device(invitation_)),
      memory_(open_memory(invitation_)),
      type_(device_->type()) {
  look_at_all_every(max_blind_ns);
}

target_transport::~target_transport() { shutdown(); }

void target_transport::join() {
  const welcome& said = invitation_.said;
  base::mapping rings = ring_pair::map(invitation_.rings.get());
  auto one = std::make_unique<ring_endpoint>(said.host, said.node, ring_pair::in(rings, said.epoch), 1U,
                                             remote_bell{&bell_page::of(said.host), invitation_.host_event.get()});
  one->set_memory(std::make_shared<mapped_memory>(std::move(invitation_.host_heap)));
  one->keep(std::move(rings), std::move(invitation_.host_event));
  adopt(std::move(one));
  watch_ = join_and_watch(invitation_.control.get(), said.host, observing());
}

void target_transport::connect(node_t peer) {
  observing().on_lost(peer, "the target of a device reaches its host only");
}

void target_transport::shutdown() noexcept {
  if (watch_ != nullptr) watch_->stop();
}

std::unique_ptr<device_memory> target_transport::take_memory() { return std::move(memory_); }

}  // namespace ham::transport::cuda
