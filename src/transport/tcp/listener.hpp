// A process that waits for hosts, and a host that has come.
#pragma once

#include <memory>
#include <string>

#include "transport/network.hpp"
#include "transport/tcp/acceptor.hpp"

namespace ham::inline v1::transport::tcp {

class tcp_arrival final : public arrival {
 public:
  /// `how`: of the listener that it came to.
  tcp_arrival(connection with, const hello& theirs, const listen_options& how);

  [[nodiscard]] node_t node() const noexcept override { return hello_.to; }
  [[nodiscard]] const secret_key& job_key() const noexcept override { return hello_.job_key; }
  [[nodiscard]] std::string from() const override { return from_; }
  [[nodiscard]] std::unique_ptr<network> join(base::heap* memory, observer& to) override;

 private:
  connection with_;
  hello hello_;
  std::string from_;
  std::chrono::milliseconds timeout_;
  tls_records records_;
  bool secure_;
  bool force_insecure_;
};

class tcp_listener final : public listener {
 public:
  explicit tcp_listener(const listen_options& options);

  [[nodiscard]] std::string address() const override;
  [[nodiscard]] std::unique_ptr<arrival> wait() override;
  [[nodiscard]] int fd() override { return acceptor_.fd(); }
  [[nodiscard]] std::int64_t refuse() override;
  void leave() override { acceptor_.hang_up(); }

 private:
  listen_options options_;
  acceptor acceptor_;
};

}  // namespace ham::transport::tcp
