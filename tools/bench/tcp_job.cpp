// The waiting process of a job over tcp, and its key.
#include "tcp_job.hpp"

#include "affinity.hpp"
#include "process_state.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace ham::inline v1::bench {

namespace {

[[noreturn]] void fail_of_job(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

std::string make_key_file() {
  std::array<unsigned char, 32> key{};
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
    fail_of_job("no random numbers for a key");
  std::string text;
  for (const unsigned char byte : key) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  const char* const folder = std::getenv("TMPDIR");
  std::string name = std::string(folder != nullptr ? folder : "/tmp") + "/ham-bench-key-XXXXXX";
  const int file = ::mkstemp(name.data());  // 0600
  if (file < 0) fail_of_job("cannot make a key file");
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  if (!written) fail_of_job("cannot write a key file");
  return name;
}

/// What the process says first is where it waits.
std::string read_address(int from) {
  std::string line;
  char next = 0;
  while (::read(from, &next, 1) == 1 && next != '\n') line += next;
  const std::size_t at = line.find(" at ");
  if (at == std::string::npos) throw std::runtime_error("the process that waits for hosts says: " + line);
  return line.substr(at + 4);
}

}  // namespace

tcp_server::tcp_server(bool secure, const std::vector<int>& cores, const std::string& address, int jobs) {
  ::setenv("HAM_TCP_SECURITY", secure ? "on" : "off", 1);
  pin_this_thread(cores);  // what it starts inherits that
  std::vector<std::string> arguments{std::string(tcp_server_argument), "--ham-serve=" + address,
                                     "--ham-jobs=" + std::to_string(jobs)};
  if (secure) {
    key_file_ = make_key_file();
    arguments.push_back("--ham-key=" + key_file_);
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_of_job("cannot make a pipe");
  pid_ = spawn_self(arguments, ends[1]);
  ::close(ends[1]);
  try {
    address_ = read_address(ends[0]);
  } catch (...) {
    ::close(ends[0]);
    throw;
  }
  ::close(ends[0]);
}

tcp_server::~tcp_server() {
  ::kill(pid_, SIGTERM);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  if (!key_file_.empty()) ::unlink(key_file_.c_str());
}

std::unique_ptr<runtime> tcp_server::host() const {
  runtime_options options;
  options.nodes = "tcp://" + address_;
  options.key = key_file_;
  return std::make_unique<runtime>(std::move(options));
}

int run_tcp_server(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(3, STDERR_FILENO);
  ::close(3);
  ::signal(SIGPIPE, SIG_IGN);
  int count = argc - 1;
  char** arguments = argv + 1;
  const runtime never(count, arguments);
  return EXIT_FAILURE;
}

}  // namespace ham::bench
