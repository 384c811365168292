// What the host and the node that runs main tell each other.
#include "job/main_role.hpp"

#include <tuple>

namespace ham::detail {

int main_role::run_on(node_t where, const std::vector<std::string>& arguments) {
  where_.store(where, std::memory_order_release);
  node_.end_with(where);
  {
    const peer_hold who = node_.peer_of(where);
    node_.replies.reply_with(*who, frame_header::of(wire_kind::notice),
                             pack(main_request{kind_of(notice::run_main), arguments}));
  }
  node_.serve();
  std::unique_lock lock(mutex_);
  if (end_) {
    const auto& [kind, status, why] = *end_;
    if (why.empty()) return status;
    throw config_error("node " + std::to_string(where) + " cannot run main: " + why);
  }
  lock.unlock();
  static_cast<void>(node_.peer_of(where));  // throws: it is lost
  throw config_error("node " + std::to_string(where) + " has not told how main ended");
}

std::vector<std::string> main_role::arguments() const {
  std::lock_guard guard(mutex_);
  return arguments_;
}

void main_role::report_end(int status, const std::string& why) {
  const peer_hold host = node_.peers.hold(0);
  if (host && host->state.load() == peer_state::ready)
    node_.replies.reply_with(*host, frame_header::of(wire_kind::notice),
                             pack(main_end{kind_of(notice::main_ended), status, why}));
}

void main_role::on_notice(node_t from, std::span<const std::byte> text) {
  if (notice_in(text) == notice::run_main) {
    if (from != 0 || requested()) throw protocol_error("a request to run main, which the host makes once");
    auto arguments = std::get<1>(unpack<main_request>(text));
    if (arguments.empty()) throw protocol_error("a request to run main without the program's name");
    for (const std::string& one : arguments) {
      if (one.find('\0') != std::string::npos) throw protocol_error("an argument of main with a zero byte");
    }
    std::lock_guard guard(mutex_);
    arguments_ = std::move(arguments);
    requested_.store(true, std::memory_order_release);
    node_.interrupt_service();
    return;
  }
  if (from == 0 || from != where_.load(std::memory_order_acquire))
    throw protocol_error("word of the end of main, which does not run there");
  auto end = unpack<main_end>(text);
  {
    std::lock_guard guard(mutex_);
    end_ = std::move(end);
  }
  // It waits for this word; and calls to it that functions here wait for would not return.
  peer& runner = node_.peers[from];
  if (runner.state.load() == peer_state::ready)
    node_.replies.reply_with(runner, frame_header::of(wire_kind::goodbye), {});
  node_.all_connections.lose(runner, "main, which ran there, has ended", peer_end::connection_lost);
  node_.end();
}

}  // namespace ham::detail
