// The message of a chunk of offload::pool::map whose function devices execute: on a node with a device it executes them
// one after the other, on others they are called in a loop. Internal.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ham/offload/detail/device_message.hpp"
#include "ham/offload/detail/pool_map.hpp"

namespace ham::inline v1::detail {

/// The parameter of a function that has one.
template <class Pointer>
struct only_parameter;
template <class Result, class Param>
struct only_parameter<Result (*)(Param)> : std::type_identity<std::decay_t<Param>> {};
template <class Result, class Param>
struct only_parameter<Result (*)(Param) noexcept> : std::type_identity<std::decay_t<Param>> {};

/// The elements of a chunk, and their results.
template <class Result, class Param, class Item>
class device_chunk final : public device_series {
 public:
  device_chunk(const incoming_call& call, const device::detail::function_entry& function, std::vector<Item>&& items)
      : device_series(call, function, items.size()), items_(std::move(items)) {
    if constexpr (!std::is_void_v<Result>) results_.resize(items_.size() * sizeof(Result));
  }

 private:
  [[nodiscard]] std::size_t size_of(std::size_t at) const override {
    device::detail::argument_writer counted(nullptr);
    put(counted, at);
    return counted.size();
  }
  void write(std::byte* bytes, std::size_t at) const override {
    device::detail::argument_writer to(bytes);
    put(to, at);
  }
  void put(device::detail::argument_writer& to, std::size_t at) const {
    const Item& item = items_[at];
    to.put(static_cast<const Param&>(as_parameter<Param>(item)));
  }
  void take([[maybe_unused]] std::size_t at, [[maybe_unused]] const std::byte* result) noexcept override {
    if constexpr (!std::is_void_v<Result>) std::memcpy(results_.data() + at * sizeof(Result), result, sizeof(Result));
  }
  void reply(incoming_call& call) override {
    if constexpr (std::is_void_v<Result>) {
      if (wants_reply(call)) reply_nothing(call);
    } else {
      std::vector<Result> all;
      all.reserve(items_.size());
      for (std::size_t at = 0; at < items_.size(); ++at) {
        alignas(Result) std::byte one[sizeof(Result)];
        std::memcpy(one, results_.data() + at * sizeof(Result), sizeof one);
        all.push_back(*reinterpret_cast<const Result*>(one));
      }
      reply_value<std::vector<Result>>(call, all);
    }
  }

  const std::vector<Item> items_;
  std::vector<std::byte> results_;  // of all elements, by their bytes
};

/// A chunk that arrives at a node with a device, once its elements are decoded.
template <class Chunk, class Callable, class Item>
struct device_chunk_call {
  device_chunk_call(incoming_call& call, const device::detail::function_entry& function, msg::reader& from,
                    Callable&& /*callable*/, std::vector<Item>&& items) {
    from.expect_end();
    call.decoded = true;
    auto* const chunk = new Chunk(call, function, std::move(items));
    chunk->start();
  }
};

/// As the general one, which executes chunks on nodes without a device.
template <class Tag, template <class> class Policy, class Result, class Pointer, Pointer Function, class Reply,
          class Item>
requires(device::detail::declaration<Pointer, Function>::is_declared) struct call_message<
    Tag, Policy, binding<offload::detail::run_chunk<Result>, fn_t<Pointer, Function>>, Reply, std::vector<Item>>
    : device_entry<call_message<Tag, Policy, binding<offload::detail::run_chunk<Result>, fn_t<Pointer, Function>>,
                                Reply, std::vector<Item>>,
                   device::detail::declared_function<Pointer, Function>> {
  using callable = binding<offload::detail::run_chunk<Result>, fn_t<Pointer, Function>>;
  using items = std::vector<Item>;
  using declared = device::detail::declared_function<Pointer, Function>;
  static constexpr bool is_function = false;

  static void body(incoming_call& call) {
    msg::reader from(call.payload);
    if (has_device(call)) {
      using chunk = device_chunk<Result, typename only_parameter<Pointer>::type, Item>;
      device_chunk_call<chunk, callable, Item>{call, declared::entry(), from, msg::decode<callable>(from),
                                               msg::decode<items>(from)};
    } else {
      decoded_call<callable, Reply, items>{call, from, msg::decode<callable>(from), msg::decode<items>(from)};
    }
  }

  // What handler_registrar asks for.
  using tag = Tag;
  static constexpr msg::handler_kind kind = msg::handler_kind::call;
  static constexpr std::size_t message_size() noexcept { return 0; }
  static void handler(void* buffer) { handle_device_call<Policy, &body>(buffer); }
  static std::string layout() { return msg::call_layout<callable, Reply, items>(); }

  [[nodiscard]] static std::size_t size(const callable& called, const items& values) {
    return msg::encoded_size(called) + msg::encoded_size(values);
  }
  static void encode(msg::writer& to, const callable& called, const items& values) {
    msg::encode(to, called);
    msg::encode(to, values);
  }
  static call_slot* send(engine& at, const call_place& where, result_decoder decode, when_full policy,
                         const callable& called, const items& values) {
    return send_message<call_message>(at, where, decode, policy, called, values);
  }
};

}  // namespace ham::detail
