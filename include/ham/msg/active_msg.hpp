// Active messages: objects that can be sent as their bytes and execute themselves where they arrive.
#pragma once

#include <cassert>
#include <cstddef>
#include <string>
#include <type_traits>

#include "ham/msg/active_msg_base.hpp"
#include "ham/msg/execution_policy.hpp"
#include "ham/msg/handler.hpp"
#include "ham/msg/layout.hpp"

namespace ham::inline v1::msg {

/// Base of an active message type:
///   class hello : public active_msg<hello> {
///    public:
///     explicit hello(int n) : n_(n) {}
///     void operator()() { ... }
///    private:
///     int n_;
///   };
/// Defining such a class registers its handler. The message is sent by copying its bytes, sizeof(hello) of them, into a
/// buffer; active_msg_base executes it there. Derived must be usable after a copy of its bytes (no pointers that mean
/// nothing elsewhere), must have no virtual functions, and active_msg must be its first base.
/// @tparam Policy how it executes: execution_policy_direct, execution_policy_pooled or a class template of the user.
template <class Derived, template <class> class Policy = default_execution_policy>
class active_msg : public active_msg_base {
  struct registration {
    using tag = Derived;
    static constexpr handler_kind kind = handler_kind::message;
    static void handler(void* buffer) { Policy<Derived>::handler(buffer); }
    static std::string layout() {  // "opaque<name,size,alignment>": it crosses as its bytes
      std::string text = "opaque<";
      detail::append_name<Derived>(text);
      return text + ',' + std::to_string(sizeof(Derived)) + ',' + std::to_string(alignof(Derived)) + '>';
    }
    static constexpr std::size_t message_size() {
      static_assert(!std::is_polymorphic_v<Derived>,
                    "ham: an active message must have no virtual functions, they mean nothing in another process");
      return sizeof(Derived);
    }
  };
  using registrar = handler_registrar<registration>;
  using registered = detail::use_of<&registrar::enlisted>;

 public:
  /// Sets the key. Throws ham::call_error if another message type of this process has the same name.
  active_msg() : active_msg_base(registrar::entry()) {
    assert(static_cast<void*>(static_cast<Derived*>(this)) == static_cast<void*>(static_cast<active_msg_base*>(this)));
  }

  /// The registration of this message type.
  [[nodiscard]] static handler_entry& handler() noexcept { return registrar::entry(); }
};

}  // namespace ham::msg
