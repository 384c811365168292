// Joining a job, meeting other targets, ending with the host.
#include "transport/shm/target_transport.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstring>

#include "base/clock.hpp"
#include "base/event_fds.hpp"
#include "base/process.hpp"
#include "base/process_end.hpp"
#include "base/recorder.hpp"
#include "base/refused_call.hpp"
#include "base/thread.hpp"
#include "transport/common/joining.hpp"
#include "transport/common/mapped_memory.hpp"
#include "transport/shm/messages.hpp"

namespace ham::inline v1::transport::shm {
namespace {

constexpr int after_host_timeout_ms = 500;

/// Only a process of the same user may have started us: its pid.
pid_t check_credentials(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  const int result = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length);
  base::expect_allowed("cannot ask who has started this target", "getsockopt", result);
  if (result != 0) {
    throw config_error(
        "HAM_TARGET says that a host has started this process, but the descriptor in it is no socket of a host; unset "
        "HAM_TARGET, which is not for you to set");
  }
  if (peer.uid != ::geteuid() && peer.uid != 0) {
    throw config_error(
        "the process that started this target belongs to another user (a target obeys its own user "
        "only); start host and target as the same user");
  }
  return peer.pid;
}

/// Why this node cannot share memory with the host that wrote `text`; empty if it can.
std::string obstacle(const control_text& text) {
  if (text.version == __builtin_bswap32(control_text::protocol)) {
    const std::string mine = std::endian::native == std::endian::little ? "little" : "big";
    return "this target is " + mine +
           "-endian and its host is not: nodes that share memory need the same byte order; reach it through tcp://";
  }
  const bool sane = text.version == control_text::protocol && text.kind == control_kind::welcome && text.node > 0 &&
                    text.peer >= 0 && place_of(text.node) != place_of(text.peer);
  return sane ? ""
              : "the host of this target speaks another version of the start protocol; build both from the same "
                "release of HAM";
}

}  // namespace

invitation invitation::accept(int control_fd) {
  invitation result;
  result.control = base::unique_fd(control_fd);
  result.host_pid = check_credentials(control_fd);
  base::control_message message = receive_welcome(control_fd);
  control_text text;
  if (message.bytes.size() < sizeof text) decline(control_fd, "its host's first message is too short");
  std::memcpy(&text, message.bytes.data(), sizeof text);
  if (const std::string why = obstacle(text); !why.empty()) decline(control_fd, why);
  expect_descriptors(control_fd, message, 6);
  auto& fds = message.fds;
  result.job_file = std::move(fds[0]);
  result.pair_file = std::move(fds[1]);
  result.own_heap = std::move(fds[2]);
  result.host_heap = std::move(fds[3]);
  result.own_event = std::move(fds[4]);
  result.host_event = std::move(fds[5]);
  result.node = text.node;
  result.host = text.peer;
  result.nodes = text.nodes;
  result.epoch = text.epoch;
  result.same_pids = text.pid == result.host_pid;
  return result;
}

std::unique_ptr<target_transport> target_transport::make(invitation from, observer& to) {
  const int control = from.control.get();
  if (base::file_size(from.job_file.get()) < sizeof(job_segment)) {
    decline(control, "the job segment of this target's host is too small; build both from the same release of HAM");
  }
  base::mapping job_memory(from.job_file.get(), sizeof(job_segment));
  if (reinterpret_cast<job_segment*>(job_memory.data())->magic != job_segment::magic_value) {
    decline(control, "the job segment of this target's host has another layout; build both from the same release");
  }
  return std::unique_ptr<target_transport>(new target_transport(std::move(from), std::move(job_memory), to));
}

target_transport::target_transport(invitation from, base::mapping job_memory, observer& to)
    : ring_transport(reinterpret_cast<job_segment*>(job_memory.data())->of(from.node).ring_me, from.own_event.get(),
                     to),
      invitation_(std::move(from)),
      job_memory_(std::move(job_memory)),
      job_(reinterpret_cast<job_segment*>(job_memory_.data())),
      self_(invitation_.node),
      host_(invitation_.host),
      stop_event_(base::make_event()) {
  look_at_all_every(max_blind_ns);
  static_cast<void>(base::use_recorder_area(invitation_.job_file.get(), recorder_offset(self_)));
  job_->bind(self_, base::only_core());
  watch_ = std::make_unique<base::life_watch>(
      job_->of(self_).alive, [this](std::uint64_t cookie) { on_life_word(static_cast<node_t>(cookie)); });
  watch_->watch(job_->of(host_).alive, static_cast<std::uint64_t>(host_));
}

target_transport::~target_transport() { shutdown(); }

void target_transport::end_with_host() noexcept {
  ::_exit(0);  // busy or not: the work has lost its owner, and nothing of it is in a file system
}

/// Each node can write the life words of all: what one says is worth a question. If the kernel does not confirm it, the
/// host tells when a peer has ended, and the control socket when the host has.
void target_transport::on_life_word(node_t node) {
  const bool is_host = node == host_;
  if (is_host ? !host_ends() : !base::confirms_end(pid_of(node), base::confirm_timeout)) return;
  if (is_host && !leaving_.load()) end_with_host();
  const std::string how = job_->of(node).how_ended(is_host ? invitation_.host_pid : pid_of(node), 0);
  observing().on_died(node, "its process " + (how.empty() ? "died" : how));
}

/// Its end of the control socket closes when its memory is freed, its pid says so before.
bool target_transport::host_ends() const {
  constexpr std::chrono::milliseconds interval{5};
  const std::int64_t until = base::now_ns() + std::chrono::nanoseconds(base::confirm_timeout).count();
  do {
    pollfd control{invitation_.control.get(), 0, 0};
    if (::poll(&control, 1, 0) == 1 && (control.revents & (POLLHUP | POLLERR)) != 0) return true;
    if (base::confirms_end(invitation_.host_pid, interval)) return true;
    base::sleep_ns(1'000'000);
  } while (base::now_ns() < until);
  return false;
}

pid_t target_transport::pid_of(node_t peer) const {
  std::lock_guard guard(mutex_);
  const auto found = pids_.find(peer);
  return found == pids_.end() ? 0 : found->second;
}

void target_transport::join() {
  add(host_, 1, invitation_.epoch, std::move(invitation_.pair_file), std::move(invitation_.host_heap),
      std::move(invitation_.host_event));
  send_control(control_kind::joined, host_);
  control_thread_ = base::start_thread([this] { control_loop(); });
}

void target_transport::add(node_t peer, unsigned side, std::uint32_t epoch, base::unique_fd pair, base::unique_fd heap,
                           base::unique_fd event) {
  if (base::file_size(pair.get()) < ring_pair::bytes) {
    observing().on_lost(peer, "its connection segment is too small");
    return;
  }
  if (++connected_ > 64) base::raise_file_limit();
  base::mapping rings = ring_pair::map(pair.get());
  auto connection = std::make_unique<ring_endpoint>(peer, self_, ring_pair::in(rings, epoch), side,
                                                    remote_bell{&job_->of(peer).ring_me, event.get(), this});
  connection->set_memory(std::make_unique<mapped_memory>(std::move(heap)));
  connection->keep(std::move(rings), std::move(event));
  adopt(std::move(connection));
  if (peer != host_) watch_->watch(job_->of(peer).alive, static_cast<std::uint64_t>(peer));
}

bool target_transport::send_control(control_kind kind, node_t peer) noexcept {
  control_text text;
  text.kind = kind;
  text.peer = peer;
  text.node = self_;
  return base::send_control(invitation_.control.get(), {reinterpret_cast<const std::byte*>(&text), sizeof text}, {});
}

void target_transport::forget(endpoint& with) noexcept {
  ring_transport::forget(with);
  if (with.peer() == host_) return;
  if (watch_ != nullptr) watch_->unwatch(static_cast<std::uint64_t>(with.peer()));
  std::lock_guard guard(mutex_);
  pids_.erase(with.peer());
}

void target_transport::connect(node_t peer) {
  if (!send_control(control_kind::connect, peer))
    observing().on_lost(peer, "the host is gone, which brings targets together");
}

bool target_transport::oversubscribed() const noexcept { return job_->oversubscribes(self_); }

void target_transport::control_loop() {
  pollfd waiting[2] = {{invitation_.control.get(), POLLIN, 0}, {stop_event_.get(), POLLIN, 0}};
  for (;;) {
    if (::poll(waiting, 2, -1) < 0) continue;
    if (waiting[1].revents != 0) return;
    bool closed = false;
    const auto message = base::receive_control(invitation_.control.get(), false, closed);
    if (closed) {
      if (!leaving_.load()) observing().on_lost(host_, "the host closed the connection");
      // A busy target behind a wrapper is not the host's child, so the host cannot end it.
      if (::poll(&waiting[1], 1, after_host_timeout_ms) == 0) end_with_host();
      return;
    }
    if (message) on_introduced(*message);
  }
}

/// The host refuses for one of two reasons, and this process knows one of them.
std::string target_transport::why_refused(node_t peer) const {
  if (::geteuid() != user_at_start_) {
    return "the host connects no further targets to node " + std::to_string(self_) + ", because its process (pid " +
           std::to_string(::getpid()) + ") runs as another user now than at its start; call node " +
           std::to_string(peer) + " once before the change";
  }
  return "its process has ended, or the host could not connect the two";
}

void target_transport::on_introduced(const base::control_message& message) {
  control_text text;
  if (message.bytes.size() != sizeof text) return;
  std::memcpy(&text, message.bytes.data(), sizeof text);
  const bool sane = !message.from_other_user && text.version == control_text::protocol && text.peer > 0 &&
                    text.peer != self_ && place_of(text.peer) != place_of(host_);
  if (!sane) return;
  if (text.kind == control_kind::ended) {
    const std::string how = job_->of(text.peer).how_ended(pid_of(text.peer), 0);
    observing().on_died(text.peer, "its process " + (how.empty() ? "has ended" : how));
    return;
  }
  if (text.kind == control_kind::refused) {
    try {
      lose_when_empty(text.peer, why_refused(text.peer));
    } catch (const std::bad_alloc&) {
      observing().on_lost(text.peer, {});
    }
  }
  if (text.kind != control_kind::connected) return;
  if (message.fds.size() != 3 || text.side > 1) {
    observing().on_lost(text.peer, "its descriptors did not arrive here; raise the limit of open files (ulimit -n)");
    return;
  }
  if (invitation_.same_pids) {
    std::lock_guard guard(mutex_);
    pids_[text.peer] = text.pid;
  }
  auto& fds = const_cast<base::control_message&>(message).fds;
  try {
    add(text.peer, text.side, text.epoch, std::move(fds[0]), std::move(fds[1]), std::move(fds[2]));
  } catch (const std::exception& problem) {
    observing().on_lost(text.peer, problem.what());
  }
}

void target_transport::shutdown() noexcept {
  if (leaving_.exchange(true)) return;
  base::signal_event(stop_event_.get());
  if (control_thread_.joinable()) control_thread_.join();
  watch_.reset();
  job_->end(self_);
}

}  // namespace ham::transport::shm
