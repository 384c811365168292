// What the engine of a node asks of its job, answered by the directory, and on the host by the membership.
#pragma once

#include "job/main_role.hpp"
#include "job/membership.hpp"
#include "job/node_directory.hpp"
#include "runtime/job.hpp"

namespace ham::inline v1::detail {

/// Holds nothing itself; `members` is nullptr on a node that is not the host, `main` where main can only run on the
/// host.
class node_job final : public job {
 public:
  explicit node_job(node_directory& directory, membership* members = nullptr, main_role* main = nullptr) noexcept
      : directory_(directory), members_(members), main_(main) {}

  bool knows_way(node_t peer) const override { return directory_.knows_way(peer); }
  std::int64_t connect(node_t peer) override { return directory_.connect(peer); }
  std::uint32_t ask_for_nodes() override { return directory_.ask_for_nodes(); }
  bool has_answered(std::uint32_t number) const override { return directory_.has_answered(number); }
  void on_welcome(node_t peer) override { directory_.on_welcome(peer); }
  void on_notice(node_t from, std::span<const std::byte> text) override {
    if (main_ != nullptr && main_role::is_about_main(notice_in(text)))
      main_->on_notice(from, text);
    else
      directory_.on_notice(from, text);
  }
  node_t add(const std::string& group, std::int64_t deadline_ns = base::never_ns) override {
    return members("adds").add(group, deadline_ns);
  }
  node_t add(const offload::target_program& program, std::int64_t deadline_ns = base::never_ns) override {
    return members("adds").add(program, deadline_ns);
  }
  node_t spawn(const std::string& group, const std::string& program,
               std::int64_t deadline_ns = base::never_ns) override {
    return members("adds").spawn(group, program, deadline_ns);
  }
  void remove(node_t node, std::chrono::milliseconds timeout) override { members("removes").remove(node, timeout); }
  void supervise(node_t node, offload::supervision how) override {
    members("supervises").supervise(node, std::move(how));
  }
  [[nodiscard]] bool ends_with_connection(node_t process) override {
    return members_ != nullptr && members_->ends_with_connection(process);
  }
  void on_output(node_t node, offload::output_handler handler) override {
    members("captures the output of").on_output(node, std::move(handler));
  }
  void send_heartbeat() override { directory_.send_heartbeat(); }
  void on_heartbeat(node_t from) noexcept override {
    if (members_ != nullptr) members_->on_heartbeat(from);
  }
  void on_lost(node_t node, const std::string& why) noexcept override {
    if (members_ != nullptr) members_->on_lost(node, why);
  }

 private:
  [[nodiscard]] membership& members(const char* does) const {
    if (members_ != nullptr) return *members_;
    throw config_error(std::string("only the host, node 0, ") + does + " nodes; call it there");
  }

  node_directory& directory_;
  membership* members_;
  main_role* main_;
};

}  // namespace ham::detail
