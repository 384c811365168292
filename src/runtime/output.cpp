// stdio streams and iostreams redirected through line assembly.
#include "runtime/output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>

#include "base/unique_fd.hpp"

namespace ham::detail {

/// One of stdout and stderr.
class line_output::channel final : public std::streambuf {
 public:
  channel(int fd, std::FILE*& stream) : fd_(fd), stream_(stream), before_(stream) {
    std::fflush(before_);
    cookie_io_functions_t functions{};
    functions.write = [](void* self, const char* data, std::size_t size) -> ssize_t {
      static_cast<channel*>(self)->add({data, size});
      return static_cast<ssize_t>(size);
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
    add({&one, 1});
    return character;
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    add({text, static_cast<std::size_t>(size)});
    return size;
  }

 private:
  static constexpr std::size_t max_line = 1 << 20;

  void add(std::string_view text) {
    std::lock_guard guard(mutex_);
    const std::size_t end = text.rfind('\n');
    if (end == std::string_view::npos) {
      line_ += text;
      if (line_.size() > max_line) {
        write_out(line_);
        line_.clear();
      }
      return;
    }
    line_ += text.substr(0, end + 1);
    write_out(line_);
    line_.assign(text.substr(end + 1));
  }

  void write_out(std::string_view text) const {
    // A pipe takes up to PIPE_BUF bytes in one piece. Longer lines need the pipe for themselves, so the short ones of
    // all targets must not come in between.
    static std::mutex one_of_this_process;  // flock does not tell the threads of a process apart
    std::lock_guard guard(one_of_this_process);
    const bool locked = lock(text.size() > PIPE_BUF ? LOCK_EX : LOCK_SH);
    while (!text.empty()) {
      const ssize_t written = ::write(fd_, text.data(), text.size());
      if (written < 0 && errno == EAGAIN) {
        pollfd room{fd_, POLLOUT, 0};
        ::poll(&room, 1, -1);
      } else if (written < 0 && errno != EINTR) {
        break;
      }
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (locked) lock(LOCK_UN);
  }

  /// A lock between the targets, on a file that all of them can open: their own program.
  static bool lock(int operation) {
    static const int file = base::above_standard_descriptors(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    return file >= 0 && ::flock(file, operation) == 0;
  }

  int fd_;
  std::FILE*& stream_;
  std::FILE* before_;
  std::FILE* replacement_ = nullptr;
  std::mutex mutex_;
  std::string line_;
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
