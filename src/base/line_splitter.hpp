// Bytes that arrive in pieces, as lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ham::inline v1::base {

/// What follows a text.
enum class line_end : std::uint8_t {
  newline,
  part,  ///< more of the same line, which is longer than the limit
  none,  ///< nothing: all has ended
};

/// One thread at a time.
class line_splitter {
 public:
  /// Lines of up to `max_line` bytes, which is not 0, stay in one piece; longer ones are cut there.
  explicit line_splitter(std::size_t max_line) noexcept : max_line_(max_line) {}

  /// Gives each line that `bytes` end, without its newline, as deliver(std::string_view, line_end), which does not
  /// throw; the text lasts as long as the call. Any bytes may be in it. Throws std::bad_alloc: what of `bytes` was not
  /// given is lost then.
  template <class Deliver>
  void add(std::string_view bytes, Deliver&& deliver) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::string_view text = bytes.substr(0, end);
      const std::size_t room = max_line_ - pending_.size();
      if (text.size() > room) {
        give(text.substr(0, room), line_end::part, deliver);
        bytes.remove_prefix(room);
      } else if (end == std::string_view::npos) {
        pending_ += text;
        return;
      } else {
        give(text, line_end::newline, deliver);
        bytes.remove_prefix(end + 1);
      }
    }
  }
  /// Gives what no newline has followed, if there is any.
  template <class Deliver>
  void finish(Deliver&& deliver) {
    if (!pending_.empty()) give({}, line_end::none, deliver);
  }

 private:
  template <class Deliver>
  void give(std::string_view rest, line_end end, Deliver& deliver) {
    if (pending_.empty()) {
      deliver(rest, end);
      return;
    }
    pending_ += rest;
    deliver(std::string_view(pending_), end);
    pending_.clear();
  }

  const std::size_t max_line_;
  std::string pending_;
};

}  // namespace ham::base
