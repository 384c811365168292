// stdio streams and iostreams redirected through line assembly.
#include "runtime/output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/file_bytes.hpp"
#include "base/unique_fd.hpp"

namespace ham::inline v1::detail {
namespace {

/// Between the targets, on a file that all of them can open: their own program. Any process that can open the file can
/// keep the lock. Who does not get it in time prints without it, for a while: then lines of others may come between the
/// parts of long ones. One thread at a time.
class output_lock {
 public:
  explicit output_lock(int operation) : held_(take(operation)) {}
  ~output_lock() {
    if (held_) ::flock(file(), LOCK_UN);
  }
  output_lock(const output_lock&) = delete;
  output_lock& operator=(const output_lock&) = delete;

 private:
  static constexpr std::int64_t timeout_ns = 1'000'000'000;
  static constexpr std::int64_t pause_ns = 10'000'000'000;

  static int file() {
    static const int own_program = base::above_standard_descriptors(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    return own_program;
  }
  static bool take(int operation) {
    static std::int64_t without_until = INT64_MIN;
    if (file() < 0) return false;
    if (::flock(file(), operation | LOCK_NB) == 0) return true;
    const std::int64_t begin = base::now_ns();
    if (begin < without_until) return false;
    base::backoff<base::backoff_schedule{.yields = 10, .sleep_ns = 20'000, .max_sleep_ns = 200'000}> pause;
    while (errno == EWOULDBLOCK || errno == EINTR) {
      if (base::now_ns() - begin > timeout_ns) {
        without_until = base::now_ns() + pause_ns;
        break;
      }
      pause.wait();
      if (::flock(file(), operation | LOCK_NB) == 0) return true;
    }
    return false;
  }

  const bool held_;
};

/// Errors of what standard output leads to. That it is closed, or nobody reads it, is how it was meant.
bool is_worth_saying(int error) noexcept {
  return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO;
}

}  // namespace

/// One of stdout and stderr.
class line_output::channel final : public std::streambuf {
 public:
  channel(int fd, std::FILE*& stream) : fd_(fd), stream_(stream), before_(stream) {
    std::fflush(before_);
    cookie_io_functions_t functions{};
    functions.write = [](void* self, const char* data, std::size_t size) -> ssize_t {
      return static_cast<channel*>(self)->add({data, size}) ? static_cast<ssize_t>(size) : 0;
    };
    replacement_ = ::fopencookie(this, "w", functions);
    if (replacement_ == nullptr) return;
    std::setvbuf(replacement_, nullptr, _IONBF, 0);
    stream_ = replacement_;
  }
  ~channel() override {
    finish();
    // The replacement stays open: exit handlers of the application may still print. It must not come back here.
    if (replacement_ != nullptr) stream_ = before_;
  }

  void finish() {
    std::lock_guard guard(mutex_);
    if (!line_.empty()) write_out(line_);
    line_.clear();
  }

 protected:
  int_type overflow(int_type character) override {
    if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
    const char one = traits_type::to_char_type(character);
    return add({&one, 1}) ? character : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    return add({text, static_cast<std::size_t>(size)}) ? size : 0;
  }

 private:
  static constexpr std::size_t max_line = 1 << 20;

  /// False, with errno: a line could not be written.
  bool add(std::string_view text) {
    std::lock_guard guard(mutex_);
    const std::size_t end = text.rfind('\n');
    if (end == std::string_view::npos) {
      line_ += text;
      if (line_.size() <= max_line) return true;
      const bool written = write_out(line_);
      line_.clear();
      return written;
    }
    line_ += text.substr(0, end + 1);
    const bool written = write_out(line_);
    line_.assign(text.substr(end + 1));
    return written;
  }

  bool write_out(std::string_view text) {
    // A pipe takes up to PIPE_BUF bytes in one piece. Longer lines need the pipe for themselves, so the short ones of
    // all targets must not come in between.
    static std::mutex one_of_this_process;  // flock does not tell the threads of a process apart
    std::lock_guard guard(one_of_this_process);
    const output_lock between_targets(text.size() > PIPE_BUF ? LOCK_EX : LOCK_SH);
    if (const int problem = base::write_bytes(fd_, text); problem != 0) {
      complain(problem);
      return false;
    }
    return true;
  }

  /// Once: programs seldom check whether what they print has arrived.
  void complain(int error) {
    if (fd_ != STDOUT_FILENO || !is_worth_saying(error) || std::exchange(complained_, true)) return;
    ::dprintf(STDERR_FILENO,
              "ham: process %d cannot write its standard output (%s); lines of it are lost (said once)\n",
              static_cast<int>(::getpid()), std::strerror(error));
    errno = error;
  }

  int fd_;
  std::FILE*& stream_;
  std::FILE* before_;
  std::FILE* replacement_ = nullptr;
  std::mutex mutex_;
  std::string line_;
  bool complained_ = false;
};

line_output::line_output()
    : out_(std::make_unique<channel>(STDOUT_FILENO, stdout)), err_(std::make_unique<channel>(STDERR_FILENO, stderr)) {
  std::cout.rdbuf(out_.get());
  std::cerr.rdbuf(err_.get());
  std::clog.rdbuf(err_.get());
}

line_output::~line_output() {
  // Streams of static lifetime may print until the very end: the channels stay.
  out_.release()->finish();
  err_.release()->finish();
}

}  // namespace ham::detail
