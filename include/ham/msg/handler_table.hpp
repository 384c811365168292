// The sorted table of this process's handlers: key to handler and handler to key in one array access.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ham/msg/handler.hpp"

namespace ham::inline v0::msg {

/// All handlers of this process, sorted by canonical name; the key of a handler is its index (paper 3, section 3.1).
///
/// A table never changes once it is built. refresh() publishes a longer one; the old one stays valid for as long as the
/// process lives, so references may be kept. All members may be called from any thread.
class handler_table {
 public:
  handler_table(const handler_table&) = delete;
  handler_table& operator=(const handler_table&) = delete;

  /// The current table. Built by the first call, which should come after static initialisation; later ones are a load.
  [[nodiscard]] static const handler_table& local() {
    const handler_table* table = current_.load(std::memory_order_acquire);
    if (table != nullptr) [[likely]]
      return *table;
    return build();
  }

  /// Picks up handlers of libraries that were loaded after the table was built. They get keys behind the existing
  /// ones: no key ever changes, so this is safe at any time, but peers learn of them only from a new manifest.
  /// True if there was something new.
  static bool refresh();

  /// The handler of a key; nullptr for a key out of range or of an ambiguous name. One array access.
  [[nodiscard]] const handler_entry* find(std::uint32_t key) const noexcept {
    return key < slot_count_ ? slots_[key] : nullptr;
  }

  /// Number of keys.
  [[nodiscard]] std::size_t size() const noexcept { return slot_count_; }

  /// Canonical name; the empty string for a key out of range, here and below.
  [[nodiscard]] const std::string& name(std::uint32_t key) const noexcept;

  /// Name for people: "inner_product(buffer_ptr<double>, unsigned long)".
  [[nodiscard]] std::string pretty_name(std::uint32_t key) const;

  /// Text of what crosses: arguments and result.
  [[nodiscard]] const std::string& layout(std::uint32_t key) const noexcept;

  /// Kind of the handler; handler_kind::message for a key out of range.
  [[nodiscard]] handler_kind kind(std::uint32_t key) const noexcept;

  /// True if several handlers of this process have this name.
  [[nodiscard]] bool duplicate(std::uint32_t key) const noexcept;

 private:
  friend class handler_entry;

  struct row {
    std::string name;
    std::string layout;
    std::vector<handler_entry*> entries;  // more than one: copies in several libraries, or duplicates
    bool duplicate = false;
  };

  explicit handler_table(std::vector<row> rows);
  static const handler_table& build();
  static const handler_table* publish_unlocked();

  static std::atomic<const handler_table*> current_;

  std::vector<row> rows_;
  std::vector<const handler_entry*> slot_storage_;
  const handler_entry* const* slots_ = nullptr;
  std::size_t slot_count_ = 0;
};

}  // namespace ham::msg
