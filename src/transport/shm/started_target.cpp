// Messages of the control socket, checked.
#include "transport/shm/started_target.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/event_fds.hpp"
#include "base/heap.hpp"
#include "base/printable.hpp"
#include "base/refused_call.hpp"
#include "transport/common/joining.hpp"

namespace ham::inline v1::transport::shm {
namespace {

base::unique_fd duplicate(int fd) {
  base::unique_fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy)
    throw config_error(std::string("cannot duplicate a descriptor (") + std::strerror(errno) +
                       "); raise the limit of open files (ulimit -n)");
  return copy;
}

}  // namespace

started_target::started_target(node_t number, std::string program)
    : node(number), heap_(base::heap::make_file()), event_(base::make_event()), program_(std::move(program)) {
  std::tie(control_, its_end_) = base::make_control_pair();
}

bool started_target::send(const control_text& text, std::span<const int> fds) noexcept {
  return base::send_control(control_.get(), std::as_bytes(std::span(&text, 1)), fds);
}

void started_target::welcome(control_text text, int job_file, int pair_file, int host_heap, int host_event) {
  text.kind = control_kind::welcome;
  text.node = node;
  text.side = 1;
  if (!send(text, std::array{job_file, pair_file, heap_.get(), host_heap, event_.get(), host_event})) {
    throw config_error("cannot hand a target its memory" +
                       base::refused_call("sendmsg", "raise the limit of open files (ulimit -n)"));
  }
  memory_ = std::make_shared<mapped_memory>(duplicate(heap_.get()));
}

started_target::words started_target::read() {
  if (base::next_control_has_fds(control_.get())) return {said::breaks_rules, 0};
  bool closed = false;
  const auto message = base::receive_control(control_.get(), false, closed);
  if (closed && !std::exchange(hung_up_, true)) return {said::hung_up, 0};
  if (!message) return {};
  const std::string_view characters(reinterpret_cast<const char*>(message->bytes.data()), message->bytes.size());
  if (!joined_ && !message->from_other_user && characters.starts_with(declined)) {
    last_words_ = base::printable(characters.substr(declined.size()));
    return {};
  }
  control_text text;
  if (message->bytes.size() != sizeof text) return {};
  std::memcpy(&text, message->bytes.data(), sizeof text);
  if (text.version != control_text::protocol) return {};
  const bool wants = text.kind == control_kind::connect;
  if (message->from_other_user) {  // who may only hold a socket joins nothing and gets no descriptors of others
    return {wants ? said::is_no_target : said::nothing, text.peer};
  }
  if (wants) return {said::wants_peer, text.peer};
  if (text.kind != control_kind::joined) return {};
  joined_ = true;
  pid_ = message->sender_pid;
  return {said::joined, 0};
}

bool started_target::introduce(const started_target& other, control_text text, int pair_file) {
  text.kind = control_kind::connected;
  text.peer = other.node;
  text.pid = other.pid_;
  return send(text, std::array{pair_file, other.heap_.get(), other.event_.get()});
}

void started_target::refuse(node_t peer) noexcept { send_about(control_kind::refused, peer); }

void started_target::send_ended(node_t peer) noexcept { send_about(control_kind::ended, peer); }

void started_target::send_about(control_kind what, node_t peer) noexcept {
  control_text text;
  text.kind = what;
  text.peer = peer;
  send(text, {});
}

void started_target::expel() noexcept {
  hung_up_ = true;
  base::abandon_control(std::move(control_));
}

std::string started_target::why_lost(const std::string& how) const {
  return joined_ ? "its process " + how : why_not_joined(program_, how, last_words_);
}

void started_target::release() noexcept {
  ended_ = true;
  memory_->abandon();
  heap_.reset();
  control_.reset();
}

}  // namespace ham::transport::shm
