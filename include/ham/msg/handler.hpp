// The static registration of a message handler: one entry per message type, linked up before main().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <typeinfo>

#include "ham/misc.hpp"

namespace ham::inline v1::msg {

/// A key that names no handler.
inline constexpr std::uint32_t invalid_key = 0xffffffff;

/// What a handler expects behind its pointer.
enum class handler_kind : std::uint8_t {
  message,  ///< the bytes of an active message, see active_msg
  call      ///< an object that the layer above owns, for example a decoded offloaded call
};

/// Registration of one handler: everything this process knows of it without looking anywhere else.
///
/// Entries have static storage and constant initialisation, so they can be used in any order of static
/// initialisation. handler_registrar puts them into the process-wide list; handler_table gives them their keys.
/// A shared library that holds entries must stay loaded.
class handler_entry {
 public:
  using handler_function = void (*)(void* buffer);  ///< gets what handler_kind says
  using layout_function = std::string (*)();        ///< gives the text of what crosses

  /// Constant-initialised: registers nothing before enlist(). `size_bytes`: of a message; 0 for a call.
  constexpr handler_entry(const std::type_info& tag, handler_kind what, handler_function function,
                          layout_function layout_text, std::size_t size_bytes) noexcept
      : type(tag), kind(what), handler(function), layout(layout_text), message_size(size_bytes) {}
  handler_entry(const handler_entry&) = delete;
  handler_entry& operator=(const handler_entry&) = delete;

  const std::type_info& type;  ///< its name, in canonical form, is the name of the handler
  const handler_kind kind;
  const handler_function handler;
  const layout_function layout;    ///< text of what crosses, compared between nodes; see translation
  const std::size_t message_size;  ///< for kind message: bytes of the message, else 0

  /// The mangled name, as the compiler has it.
  [[nodiscard]] const char* type_name() const noexcept { return type.name(); }

  /// Key of this handler in the table of this process; invalid_key until handler_table has seen the entry. One load.
  [[nodiscard]] std::uint32_t key() const noexcept { return key_.load(std::memory_order_relaxed); }

  /// True if another handler of this process has the same name: using either is an error, never a silent pick.
  [[nodiscard]] bool duplicate() const noexcept { return duplicate_.load(std::memory_order_relaxed); }

  /// Calls of it run though their callers stop them or their deadlines have passed: it gives something back, or does a
  /// part of something. Set before the first call.
  void run_always() noexcept { always_runs_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool always_runs() const noexcept { return always_runs_.load(std::memory_order_relaxed); }

  /// Links the entry into the process-wide list. Further calls do nothing.
  void enlist();

  /// Like key(), but first builds or refreshes the table if the entry has no key yet (start of the process, a library
  /// loaded later). Takes a lock only then.
  [[nodiscard]] std::uint32_t resolve() {
    const std::uint32_t known = key();
    if (known != invalid_key) [[likely]]
      return known;
    return resolve_slowly();
  }

 private:
  friend class handler_table;

  std::uint32_t resolve_slowly();

  std::atomic<std::uint32_t> key_{invalid_key};
  std::atomic<bool> duplicate_{false};
  std::atomic<bool> always_runs_{false};
  bool linked_ = false;  // this and next_ are guarded by the lock of the list
  handler_entry* next_ = nullptr;
};

namespace detail {
/// Naming this type with a variable is a use that makes the compiler initialise the variable.
template <const bool*>
struct use_of {};
}  // namespace detail

/// Registers the handler that Registration describes, in every program that uses this class template with it (paper 3,
/// section 3.1: registration by initialisation of a static member). Registration has
///   using tag = ...;                               // typeid(tag) names the handler
///   static constexpr handler_kind kind;
///   static void handler(void* buffer);
///   static std::string layout();
///   static constexpr std::size_t message_size();   // 0 for kind call
/// Several Registrations of one tag are duplicates of each other.
template <class Registration>
class handler_registrar {
  // A function, because its body is compiled late: message types register themselves while they are still incomplete.
  static bool enlist() {
    entry_.enlist();
    return true;
  }

 public:
  /// The entry; naming this function in code that is compiled is what registers the handler.
  [[nodiscard]] static handler_entry& entry() noexcept {
    HAM_UNUSED_VAR(static_cast<const void*>(&enlisted));
    return entry_;
  }

  /// Initialised, before main() or when the library is loaded, by enlisting the entry.
  static inline const bool enlisted = enlist();

 private:
  static constinit inline handler_entry entry_{typeid(typename Registration::tag), Registration::kind,
                                               &Registration::handler, &Registration::layout,
                                               Registration::message_size()};
};

}  // namespace ham::msg
