// A target that the host has started, as its control thread sees it: what it is sent, what it says, what it holds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/control_socket.hpp"
#include "base/unique_fd.hpp"
#include "ham/error.hpp"
#include "transport/common/mapped_memory.hpp"
#include "transport/shm/messages.hpp"

namespace ham::inline v1::transport::shm {

class started_target {
 public:
  enum class said : std::uint8_t {
    nothing,
    hung_up,  ///< told once
    joined,
    wants_peer,
    is_no_target,  ///< of another user, wants a peer all the same
    breaks_rules,  ///< sends descriptors: it is to be expelled
  };
  struct words {
    said what = said::nothing;
    node_t peer = 0;
  };

  /// Makes its heap, its event and both ends of its control socket. `program` is its command, for people. Throws
  /// ham::config_error.
  started_target(node_t number, std::string program);

  /// The first message to it; `text` says all but the number. Throws ham::config_error.
  void welcome(control_text text, int job_file, int pair_file, int host_heap, int host_event);
  /// Its end of the control socket, which it inherits. Given once.
  [[nodiscard]] base::unique_fd take_its_end() noexcept { return std::move(its_end_); }
  /// Reads one message, if there is one.
  [[nodiscard]] words read();
  /// Connects it with `other`, over `pair_file`. False: it does not read.
  [[nodiscard]] bool introduce(const started_target& other, control_text text, int pair_file);
  void refuse(node_t peer) noexcept;
  /// That the process of `peer` has ended for sure.
  void send_ended(node_t peer) noexcept;
  /// What is told of one that is lost because it did something: `how`.
  [[nodiscard]] std::string why_lost(const std::string& how) const;
  /// Its process has gone: a host that goes on starting others must not keep its memory and descriptors.
  void release() noexcept;

  [[nodiscard]] int control() const noexcept { return control_.get(); }
  [[nodiscard]] bool listens() const noexcept { return static_cast<bool>(control_); }
  void hang_up() noexcept { control_.reset(); }
  /// It is not listened to any more, and what it has sent must not be touched.
  void expel() noexcept;
  /// Of its own: its endpoint rings it.
  [[nodiscard]] int event() const noexcept { return event_.get(); }
  [[nodiscard]] const std::shared_ptr<mapped_memory>& memory() const noexcept { return memory_; }
  [[nodiscard]] bool has_joined() const noexcept { return joined_; }
  /// Of the process that has joined, as the kernel says; 0: not known. It may have been started by the one that the
  /// host has started.
  [[nodiscard]] std::int32_t pid() const noexcept { return pid_; }
  [[nodiscard]] bool has_hung_up() const noexcept { return hung_up_; }
  [[nodiscard]] bool has_ended() const noexcept { return ended_; }

  const node_t node;
  std::string how_ended;   ///< empty: it has not
  bool leaving = false;    ///< was told to end
  bool forgotten = false;  ///< its endpoint is used no more

 private:
  bool send(const control_text& text, std::span<const int> fds) noexcept;
  void send_about(control_kind what, node_t peer) noexcept;

  base::unique_fd control_;
  base::unique_fd its_end_;
  base::unique_fd heap_;
  base::unique_fd event_;
  std::shared_ptr<mapped_memory> memory_;
  std::string program_;
  std::string last_words_;  // why it does not join
  std::int32_t pid_ = 0;
  bool joined_ = false;
  bool hung_up_ = false;
  bool ended_ = false;
};

}  // namespace ham::transport::shm
