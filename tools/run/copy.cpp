// A file through the standard input of ssh.
#include "copy.hpp"

#include "problem.hpp"
#include "process.hpp"
#include "remote_script.hpp"
#include "shell_text.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>

namespace ham::inline v1::run {
namespace {

using clock = std::chrono::steady_clock;

class copying {
 public:
  copying(const run_options& options, const copy_order& what, const std::function<void(int)>& look)
      : what_(what), look_(look), timeout_(options.timeout_s), printed_(::memfd_create("ham-copy", MFD_CLOEXEC)) {
    pipe_ends to = make_pipe();
    process_plan plan;
    plan.command = options.ssh;
    plan.command.push_back(what.machine);
    plan.command.push_back("exec sh -c " + shell_word(store_script()));
    plan.in = to.read.get();
    plan.out = printed_.get();
    plan.err = printed_.get();
    plan.deaf_to_interrupts = true;
    pid_ = start_process(plan);
    in_ = std::move(to.write);
    ::fcntl(in_.get(), F_SETFL, O_NONBLOCK);
  }
  copying(const copying&) = delete;
  copying& operator=(const copying&) = delete;
  ~copying() {
    if (status_) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  void send(std::string_view text) {
    moved_ = clock::now();
    while (!text.empty()) {
      const ssize_t written = ::write(in_.get(), text.data(), text.size());
      if (written > 0) {
        text.remove_prefix(static_cast<std::size_t>(written));
        moved_ = clock::now();
      } else if (written < 0 && errno == EAGAIN) {
        pollfd room{in_.get(), POLLOUT, 0};
        ::poll(&room, 1, 50);
        look();
      } else if (written < 0 && errno != EINTR) {
        finish();
        fail("it takes no more");
      }
    }
    look_(0);
  }

  void finish() {
    in_.close();
    moved_ = clock::now();
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
      look_(5);
      look();
    }
    status_ = status;
    if (status != 0) fail("ssh ended with " + describe_end(status));
  }

 private:
  void look() {
    look_(0);
    if (clock::now() - moved_ > timeout_) {
      fail("nothing moved for " + std::to_string(timeout_.count()) + " s, see --timeout");
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    std::array<char, 2000> text{};
    const ssize_t size = ::pread(printed_.get(), text.data(), text.size(), 0);
    throw problem("cannot copy " + what_.file + " to " + what_.machine + ":" + what_.folder + " (" + why +
                  "); see that there is room for it. It printed:\n  | " +
                  std::string(text.data(), static_cast<std::size_t>(size > 0 ? size : 0)));
  }

  const copy_order& what_;
  const std::function<void(int)>& look_;
  std::chrono::seconds timeout_;
  descriptor printed_;
  pid_t pid_ = -1;
  descriptor in_;
  std::optional<int> status_;
  clock::time_point moved_ = clock::now();
};

}  // namespace

void copy_file(const run_options& options, const copy_order& what, const std::function<void(int)>& look) {
  const descriptor file(::open(what.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    throw problem("cannot read " + what.file + " (" + std::strerror(errno) + "), which is to be copied to " +
                  what.machine + "; name the file of that machine with --binary ISA=PATH");
  }
  copying to(options, what, look);
  to.send(what.folder + "\n" + what.name + "\n");
  std::array<char, 1 << 16> room;
  for (;;) {
    const ssize_t got = ::read(file.get(), room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw problem("cannot read " + what.file + " (" + std::strerror(errno) + ")");
    if (got == 0) break;
    to.send({room.data(), static_cast<std::size_t>(got)});
  }
  to.finish();
}

}  // namespace ham::run
