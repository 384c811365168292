// Connects to peers: one address after the other, until one leads to the peer or the time is over.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "transport/tcp/address.hpp"
#include "transport/tcp/handshake.hpp"

namespace ham::inline v1::transport::tcp {

/// All of it at once, by the calling thread. Nothing: it could not be made within `timeout`.
[[nodiscard]] std::optional<connection> connect_now(const socket_address& to, std::shared_ptr<const tls_context> key,
                                                    const hello& mine, std::chrono::milliseconds timeout);

/// One thread at a time waits for fd() until next_ns() and calls turn(); what any thread may call says so.
class connector {
 public:
  struct destination {
    node_t peer = -1;
    purpose what = purpose::reach;
    std::string address;                     ///< HOST:PORT
    std::shared_ptr<const tls_context> key;  ///< nullptr: plaintext
  };
  struct limits {
    std::chrono::milliseconds timeout{};  ///< of an attempt; an invitation may take longer
    bool allow_exposed = false;           ///< plaintext to other addresses than loopback
  };
  /// Called by turn().
  class client {
   public:
    [[nodiscard]] virtual hello hello_for(node_t peer, purpose what, bool to_loopback) const = 0;
    virtual void on_greeted(const destination& who, connection with, const welcome& answer) = 0;
    virtual void on_unreachable(const destination& who, const std::string& why) = 0;

   protected:
    ~client() = default;
  };

  /// Throws ham::config_error.
  connector(const limits& how, client& of);
  /// No connection is made any more.
  ~connector();
  connector(const connector&) = delete;
  connector& operator=(const connector&) = delete;

  /// Begins to connect; names are resolved on a thread of their own. Throws ham::config_error if `where` has a wrong
  /// address. Any thread.
  void begin(destination where);
  /// Drops all attempts, and none begins any more. Blocks while a name is being resolved. Nobody turns meanwhile.
  void stop() noexcept;

  /// Readable when turn() has something to do.
  [[nodiscard]] int fd() const noexcept { return epoll_.get(); }
  /// When turn() must be called at the latest, in base::now_ns().
  [[nodiscard]] std::int64_t next_ns() const;
  void turn();

 private:
  struct attempt;
  struct resolver {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> over;
  };

  void hand_over(std::unique_ptr<attempt> resolved);
  void take_resolved();
  void begin_resolved(std::unique_ptr<attempt> one) noexcept;
  template <class Act>
  void act_on(attempt& which, Act act) noexcept;
  void drop(attempt& which, std::unique_ptr<attempt> own, const std::exception& problem) noexcept;
  void handle_late(std::int64_t now);
  [[nodiscard]] bool exposed(const attempt& which, const socket_address& to) const noexcept;
  void try_next(attempt& which);
  void advance(attempt& which);
  [[nodiscard]] static bool comes_again(attempt& which);
  void arrive(attempt& which);
  void give_up(attempt& which, const std::string& why);

  const limits limits_;
  client& client_;
  base::unique_fd epoll_;  // of all attempts and event_
  base::unique_fd event_;
  std::map<attempt*, std::unique_ptr<attempt>> attempts_;

  std::mutex mutex_;
  std::vector<std::unique_ptr<attempt>> resolved_;  // guarded by mutex_
  std::vector<resolver> resolvers_;                 // guarded by mutex_
  bool stopping_ = false;                           // guarded by mutex_
};

}  // namespace ham::transport::tcp
