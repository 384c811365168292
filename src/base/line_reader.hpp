// Reads pipes line by line, on a thread of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/line_splitter.hpp"
#include "base/unique_fd.hpp"

namespace ham::inline v1::base {

/// Has no thread and no descriptor until the first pipe is added. All members may be called from any thread. Whoever
/// else holds the other end of a pipe keeps nobody waiting here.
class line_reader {
 public:
  /// Takes a line, without its newline; the text lasts as long as the call. On the thread; does not throw.
  using receiver = std::function<void(std::string_view text, line_end end)>;

  explicit line_reader(std::size_t max_line) noexcept : max_line_(max_line) {}
  ~line_reader() { stop(); }
  line_reader(const line_reader&) = delete;
  line_reader& operator=(const line_reader&) = delete;

  /// From now on lines of `pipe`, the end to read from, go to `to`, until nobody has the other end any more. After
  /// stop() the pipe is closed. Throws ham::config_error, std::system_error if there can be no thread, std::bad_alloc.
  void add(unique_fd pipe, receiver to);
  /// Has the thread call `act`, which does not throw, between two lines, and waits for that. All that was in the pipes
  /// when this was called is delivered before, but for lines that have not ended. On the thread itself: calls it at
  /// once. Throws std::bad_alloc.
  void run(std::function<void()> act);
  [[nodiscard]] bool is_this_thread() const noexcept;
  /// Delivers what is in the pipes, lines that have not ended included, and ends the thread. Not on the thread.
  void stop() noexcept;

 private:
  struct channel {
    unique_fd pipe;
    receiver to;
    line_splitter lines;
  };
  struct request;

  void loop();
  void read_events();
  void take_added() noexcept;
  [[nodiscard]] bool serve_requests();
  void read_present();
  void deliver_rest() noexcept;
  [[nodiscard]] bool read_some(channel& from, std::size_t max_bytes);
  void close(const channel& ended) noexcept;

  const std::size_t max_line_;
  std::mutex mutex_;
  std::list<channel> added_;  // guarded by mutex_, as are the next three
  std::vector<request*> requests_;
  bool stopping_ = false;
  std::thread thread_;
  unique_fd epoll_;
  unique_fd event_;
  std::list<channel> channels_;  // of the thread
  std::vector<char> buffer_;     // of the thread
};

}  // namespace ham::base
