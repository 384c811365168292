// The message of an offloaded call: how a call of one type is encoded here and executed there. Internal.
//
// Paper 3, Fig. 3: the functor's type instantiates an active message whose handler restores the type, runs the
// function and sends its result back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ham/msg/call_layout.hpp"
#include "ham/msg/callable.hpp"
#include "ham/msg/codec.hpp"
#include "ham/msg/f2f.hpp"
#include "ham/msg/handler.hpp"
#include "ham/msg/signature.hpp"
#include "ham/offload/detail/engine_api.hpp"

namespace ham::detail {

template <class Tag, template <class> class Policy, class Callable, class Result, class... Params>
struct call_message;

/// What a policy runs on the receiver. Copying it makes it independent of the buffer it arrived in.
template <class Callable, class Result, class... Params>
class received_call {
 public:
  explicit received_call(incoming_call& call) noexcept : call_(&call) {}
  received_call(const received_call& other) : kept_(std::make_unique<kept>(*other.call_)), call_(&kept_->call) {}
  received_call(received_call&&) noexcept = default;
  received_call& operator=(const received_call&) = delete;
  received_call& operator=(received_call&&) = delete;
  ~received_call() = default;

  void operator()() {
    if (kept_ == nullptr) {
      run();
    } else {  // on a thread that works for no runtime in particular
      const engine_scope scope(call_->at);
      run();
    }
  }

 private:
  /// A call with its bytes, for copies.
  struct kept {
    explicit kept(const incoming_call& from) : call(from), bytes(from.payload.begin(), from.payload.end()) {
      call.payload = bytes;
      share_call(call);
    }
    kept(const kept&) = delete;
    kept& operator=(const kept&) = delete;
    ~kept() { unshare_call(call); }
    incoming_call call;
    std::vector<std::byte> bytes;
  };

  struct decoded {
    explicit decoded(msg::reader& from)
        : callable(msg::decode<Callable>(from)), parameters(msg::decode_pack<Params...>(from)) {
      from.expect_end();
    }
    msg::decode_result_t<Callable> callable;
    std::tuple<msg::decode_result_t<Params>...> parameters;
  };

  void run() {
    msg::reader from(call_->payload);
    std::optional<decoded> arguments;
    try {
      arguments.emplace(from);
    } catch (const protocol_error& problem) {
      reject_call(*call_, problem.what());
      return;
    } catch (...) {  // of a user's codec
      reply_exception(*call_);
      return;
    }
    try {
      answer(*arguments);
    } catch (...) {
      reply_exception(*call_);
    }
  }

  void answer(decoded& arguments) {
    const auto invoke = [&](auto&... values) -> Result {
      return static_cast<Result>(msg::invoke_decoded(arguments.callable, values...));
    };
    if constexpr (std::is_void_v<Result>) {
      std::apply(invoke, arguments.parameters);
      if (wants_reply(*call_)) reply_nothing(*call_);
    } else {
      const Result result = std::apply(invoke, arguments.parameters);
      if (!wants_reply(*call_)) return;
      const std::size_t size = msg::encoded_size(result);
      outgoing_reply reply;
      begin_reply(*call_, size, reply);
      try {
        msg::writer to(reply.data, size);
        msg::encode(to, result);
        to.expect_full();
      } catch (...) {
        cancel_reply(*call_, reply);
        throw;
      }
      finish_reply(*call_, reply);
    }
  }

  std::unique_ptr<kept> kept_;
  incoming_call* call_;
};

/// Registration of the handler and encoding of the arguments.
template <class Tag, template <class> class Policy, class Callable, class Result, class... Params>
struct call_message {
  using received = received_call<Callable, Result, Params...>;

  // What handler_registrar asks for.
  using tag = Tag;
  static constexpr msg::handler_kind kind = msg::handler_kind::call;
  static constexpr std::size_t message_size() noexcept { return 0; }
  static void handler(void* buffer) {
    received call(*static_cast<incoming_call*>(buffer));
    Policy<received>::handler(&call);
  }
  static std::string layout() { return msg::call_layout<Callable, Result, Params...>(); }

  [[nodiscard]] static msg::handler_entry& entry() noexcept { return msg::handler_registrar<call_message>::entry(); }

  [[nodiscard]] static constexpr std::size_t size(const Callable& callable, const Params&... values) {
    return (msg::encoded_size(callable) + ... + msg::encoded_size(values));
  }
  static void encode(msg::writer& to, const Callable& callable, const Params&... values) {
    msg::encode(to, callable);
    (msg::encode(to, values), ...);
  }
};

/// The message of a call of Callable (as the user gave it, wrappers included) with these decayed parameters.
template <class Callable, class... Params>
struct call_of {
  using core = msg::core_type_t<Callable>;
  using result = typename msg::signature<Callable, Params...>::result_type;
  static_assert(msg::require_argument<core>());
  static_assert((msg::require_argument<Params>() && ...));
  static_assert(msg::require_result<result>());
  using message =
      call_message<msg::tag_for<Callable, Params...>, msg::policy_of<Callable>::template type, core, result, Params...>;
};

template <class Callable, class Parameters>
struct call_of_tuple;
template <class Callable, class... Params>
struct call_of_tuple<Callable, std::tuple<Params...>> : call_of<Callable, Params...> {};

/// An argument as its parameter type: itself if it is one, else converted.
template <class Param, class Arg>
[[nodiscard]] decltype(auto) as_parameter(Arg&& arg) {
  if constexpr (std::is_same_v<std::remove_cvref_t<Arg>, Param>)
    return static_cast<const Param&>(arg);
  else
    return static_cast<Param>(std::forward<Arg>(arg));
}

/// Brings all spellings of a call to one: use(message type, core callable, parameters...).
template <class Use, class Callable, class... Args>
decltype(auto) with_call(Use&& use, const Callable& callable, Args&&... args) {
  if constexpr (msg::is_bound_v<Callable>) {
    static_assert(sizeof...(Args) == 0, "ham: a functor made by f2f has its arguments already");
    using call = call_of_tuple<typename Callable::callable_type, typename Callable::arguments_type>;
    return std::apply(
        [&](const auto&... values) -> decltype(auto) {
          return use(std::type_identity<call>{}, msg::core_of(callable.callable()), values...);
        },
        callable.arguments());
  } else {
    using parameters = typename msg::signature<Callable, Args...>::parameters;
    using call = call_of_tuple<Callable, parameters>;
    return [&]<class... Params>(std::type_identity<std::tuple<Params...>>) -> decltype(auto) {
      return use(std::type_identity<call>{}, msg::core_of(callable), as_parameter<Params>(std::forward<Args>(args))...);
    }(std::type_identity<parameters>{});
  }
}

/// What a call of this callable with these arguments returns.
template <class Callable, class... Args>
struct result_of_call {
  using type = typename msg::signature<Callable, Args...>::result_type;
};
template <class Callable, class... Params>
struct result_of_call<bound<Callable, Params...>> {
  using type = typename bound<Callable, Params...>::result_type;
};
template <class Callable, class... Args>
using result_of_call_t = typename result_of_call<std::decay_t<Callable>, Args...>::type;

}  // namespace ham::detail
