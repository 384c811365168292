// Functions that are known by a name at run time, such as those that a program in Python offers (docs/python.md).
//
//   const offload::function_by_name<double(std::vector<double>, double)> total("my_module.total");
//   double sum = total(1, values, 2.0);
//   offload::future<double> later = total.async(offload::within(1, 10s), values, 2.0);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ham/msg/call_layout.hpp"
#include "ham/msg/codec.hpp"
#include "ham/offload/destination.hpp"
#include "ham/offload/detail/engine_api.hpp"
#include "ham/offload/detail/handle_check.hpp"
#include "ham/offload/detail/reservation.hpp"
#include "ham/offload/stop.hpp"

namespace ham::inline v1::offload {

namespace detail {

/// "parameter,...->result", as ham_layout tells of a function.
template <class Result, class... Params>
[[nodiscard]] std::string layout_by_name() {
  static constexpr msg::detail::layout_writer writers[] = {
      nullptr, msg::detail::layout_writer_of<std::decay_t<Params>>()..., msg::detail::layout_writer_of<Result>()};
  const std::string text = msg::detail::join_call_layout(writers);  // "empty,parameter,...->result"
  return text.substr(text.find_first_of(",-") + (sizeof...(Params) == 0 ? 0 : 1));
}

}  // namespace detail

/// A function of this type that nodes offer under a name: by ham.offer in Python, by ham_register_encoded in C, or by
/// named<"..."> in C++. A value; any thread.
template <class Function>
class function_by_name;

template <class Result, class... Params>
class function_by_name<Result(Params...)> {
 public:
  explicit function_by_name(std::string_view name)
      : key_(std::string(name) + '\0' + detail::layout_by_name<Result, Params...>()) {}

  /// As offload::async. The future fails with ham::call_error if the node has no such function, or one of another type;
  /// what a function in another language raises is a std::exception with its text.
  [[nodiscard]] future<Result> async(const destination& to, const std::decay_t<Params>&... arguments) const {
    namespace of = ham::detail;
    const std::size_t argument_size = (std::size_t{0} + ... + msg::encoded_size(arguments));
    const std::size_t size = msg::encoded_size(std::string_view(key_)) + sizeof(std::uint64_t) + argument_size;
    of::engine& at = of::engine_for(to);
    of::call_room room;
    if (of::begin_call(at, to, of::by_name_entry(), size, &of::slot_value<Result>::decode, of::when_full::wait, room)) {
      of::reservation message(room);
      of::refuse_old_handles(at, arguments...);
      msg::writer out(room.data, size);
      msg::encode(out, std::string_view(key_));
      out.count(argument_size);
      (msg::encode(out, arguments), ...);
      out.expect_full();
      of::finish_call(at, message.release());
    }
    return detail::future_access::make<Result>(room.slot);
  }

  /// The same; the token of `to` stops the call, as that of offload::async.
  [[nodiscard]] future<Result> async(const stoppable_destination& to, const std::decay_t<Params>&... arguments) const {
    namespace of = ham::detail;
    if (to.token().stop_requested())
      return detail::future_access::make<Result>(
          of::stop_link::stopped_slot(of::engine_for(to.where()), to.where().node));
    const of::token_of_next_call ends_wait(&to.token());
    auto started = async(to.where(), arguments...);
    of::stop_link::attach(*detail::future_access::slot(started), to.token(), to.how());
    return started;
  }

  /// Calls and waits for the result.
  Result operator()(const destination& to, const std::decay_t<Params>&... arguments) const {
    return async(to, arguments...).get();
  }
  Result operator()(const stoppable_destination& to, const std::decay_t<Params>&... arguments) const {
    return async(to, arguments...).get();
  }

 private:
  std::string key_;  // name, zero, layout
};

}  // namespace ham::offload
