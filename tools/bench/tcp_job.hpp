// A job over tcp on this machine: this program again as a process that waits for hosts, and a runtime that is its host.
#pragma once

#include <ham/offload.hpp>

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::bench {

/// First argument of the waiting process; main() passes such a call on to run_tcp_server().
inline constexpr std::string_view tcp_server_argument = "tcp-server";

/// With a fresh key in a file of its own, or without security.
class tcp_server {
 public:
  /// Starts it on any of `cores`, for `jobs` hosts at once. Sets HAM_TCP_SECURITY of this process. Throws
  /// std::runtime_error, std::system_error.
  tcp_server(bool secure, const std::vector<int>& cores, const std::string& address = "127.0.0.1:0", int jobs = 1);
  ~tcp_server();
  tcp_server(const tcp_server&) = delete;
  tcp_server& operator=(const tcp_server&) = delete;

  /// A job of which it is the only target.
  [[nodiscard]] std::unique_ptr<runtime> host() const;

 private:
  std::string key_file_;
  std::string address_;
  pid_t pid_ = -1;
};

/// Main program of the waiting process. `argv` = {program, "tcp-server", options...}; what it says goes to
/// descriptor 3.
int run_tcp_server(int argc, char** argv);

}  // namespace ham::bench
