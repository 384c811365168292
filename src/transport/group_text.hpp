// The text of one group of HAM_NODES, which a transport reads from its begin to its end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ham::inline v1::transport {

/// The most targets that a group or a whole list can ask for.
inline constexpr std::size_t max_targets = 4000;

/// Reads from the front; what has been read is gone. All members throw ham::config_error, which shows the list and the
/// group, where the text is not as it must be.
class group_text {
 public:
  /// `all` is the whole list, `part` the group in it, both of which outlive this; what `advice` gives ends the
  /// messages.
  group_text(std::string_view all, std::string_view part, std::string (*advice)())
      : all_(all), part_(part), rest_(part), advice_(advice) {}

  [[noreturn]] void refuse(const std::string& why) const;

  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }
  void skip(std::size_t characters) noexcept { rest_.remove_prefix(characters); }

  /// ":COUNT", or `unsaid` if it is not there.
  [[nodiscard]] std::size_t take_count(std::size_t unsaid = 1);
  /// "*COUNT" likewise.
  [[nodiscard]] std::size_t take_times();
  /// "/KEY=VALUE[/KEY=VALUE...]", without the first slash; empty if it is not there. Refuses a slash without a setting
  /// behind it, and a key that stands there twice.
  [[nodiscard]] std::string_view take_settings();
  /// "@CORE[+CORE...]"; empty if it is not there.
  [[nodiscard]] std::vector<int> take_cores();
  /// Where cores cannot be given.
  void expect_no_cores() const;
  void expect_end() const { expect_end(rest_); }

  /// A number of targets at the begin of `text`, which it is taken from. `after`, for messages: what stood before it.
  [[nodiscard]] std::size_t count_at(std::string_view& text, const char* after) const;
  void expect_end(std::string_view rest) const;

 private:
  void expect_each_key_once(std::string_view settings) const;

  std::string_view all_;
  std::string_view part_;
  std::string_view rest_;
  std::string (*advice_)();
};

}  // namespace ham::transport
