// The sorted table of this process's handlers: key to handler and handler to key in one array access.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ham/msg/handler.hpp"
#include "ham/msg/presence.hpp"

namespace ham::inline v1::msg {

/// All handlers of this process, sorted by canonical name; the key of a handler is its index (paper 3, section 3.1).
///
/// A table never changes once it is built. refresh() publishes a longer one; the old one stays valid for as long as the
/// process lives, so references may be kept: keys behind its own ones are looked up in the newest table. All members
/// may be called from any thread.
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
  /// ones: no key ever changes, so this is safe at any time. Peers learn of them when they call one, or are called.
  /// True if there was something new.
  static bool refresh();

  /// The handler of a key; nullptr for a key out of range or of an ambiguous name. One array access. Of a name that has
  /// become ambiguous, or whose library was unloaded, since peers may know its key: one that throws ham::call_error.
  [[nodiscard]] const handler_entry* find(std::uint32_t key) const noexcept {
    return key < slot_count_ ? slots_[key] : find_later(key);
  }

  /// Number of keys that there were when it was built.
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

  /// False if its function runs on the device of this process, which has no version of it; asked anew each time.
  [[nodiscard]] bool runs_here(std::uint32_t key) const {
    const row* const found = row_of(key);
    return found == nullptr || msg::runs_here(*found->entries.front());
  }

  // ---- libraries that are loaded later (docs/decisions/0018-loaded-libraries.md)
  /// The entries that are linked up while `load()` runs: those of the library that it loads, and of what that
  /// needs. Other threads must not load libraries meanwhile.
  template <class Load>
  [[nodiscard]] static std::vector<handler_entry*> linked_by(Load load) {
    const handler_entry* const before = newest_entry();
    load();
    return linked_since(before);
  }
  /// As refresh(), after a library was loaded. Peers that call new functions reach `through`, which finds the
  /// library_entry, with its `owner`, in the call; tables that were built before the library is taken away go on to
  /// reach it there. Handlers whose names there are already add nothing, or make them ambiguous.
  static void add_library(handler_entry::handler_function through, void* owner);
  /// Takes them away again. A call that comes for one fails with ham::call_error. Their keys are used again only for
  /// functions of the same name and layout.
  static void remove_library(std::span<handler_entry* const> entries);
  /// Links entries up again that remove_library has taken away, and that are still there.
  static void link_again(std::span<handler_entry* const> entries);

  // ---- handlers of fork()
  /// No other thread changes anything until release_after_fork(), which parent and child call.
  static void hold_for_fork();
  static void release_after_fork() noexcept;

 private:
  friend class handler_entry;

  struct row {
    std::string name;
    std::string layout;
    std::vector<handler_entry*> entries;  // more than one: copies in several libraries, or duplicates
    bool duplicate = false;
    bool was_usable = false;                                         // in a table that was published
    std::vector<std::shared_ptr<handler_entry>> stand_ins{nullptr};  // of each entry whose library can be unloaded
    std::string former_name{};                                       // before its library was unloaded
    std::string former_layout{};
  };
  struct library {
    handler_entry::handler_function through;
    void* owner;
  };

  explicit handler_table(std::vector<row> rows);
  static const handler_table& build();
  static const handler_table* publish_unlocked(const library* of = nullptr);
  static const handler_table* publish_rows_unlocked(std::vector<row> rows);
  static const handler_entry* newest_entry();
  static std::vector<handler_entry*> linked_since(const handler_entry* before);
  [[nodiscard]] const handler_entry* find_later(std::uint32_t key) const noexcept;
  [[nodiscard]] const row* row_of(std::uint32_t key) const noexcept;

  static std::atomic<const handler_table*> current_;

  std::vector<row> rows_;
  std::vector<const handler_entry*> slot_storage_;
  const handler_entry* const* slots_ = nullptr;
  std::size_t slot_count_ = 0;
};

}  // namespace ham::msg
