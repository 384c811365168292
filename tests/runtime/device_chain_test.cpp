// What is put together as a chain of a device: before any device sees it.
#include "runtime/device_chain.hpp"

#include <cstring>
#include <stdexcept>

#include "runtime/device_job.hpp"

namespace ham::inline v1::device_chain_functions {

std::atomic<int> executed{0};
double of_three(double x, std::span<const float>, std::uint16_t) {
  executed.fetch_add(1);
  return x;
}
offload::buffer_ptr<int> of_handle(offload::buffer_ptr<int> x) { return x; }
/// Its codec refuses it if told to.
struct refusable {
  std::uint32_t value;
};
bool refuses_arguments = false;
void of_refusable(refusable) {}
void of_grid(double) { executed.fetch_add(1); }
std::uint32_t of_value(std::uint32_t x) { return x; }
struct kilobyte {
  char bytes[600];
};
kilobyte much(kilobyte of) { return of; }

}  // namespace ham::device_chain_functions

template <>
struct ham::codec<ham::device_chain_functions::refusable> {
  using type = ham::device_chain_functions::refusable;
  static constexpr bool fixed = true;
  static constexpr std::size_t fixed_size = 4;
  static void write(msg::writer& to, const type& of) { to.number(of.value); }
  static type read(msg::reader& from) {
    const type made{from.number<std::uint32_t>()};
    if (ham::device_chain_functions::refuses_arguments) throw std::runtime_error("refused");
    return made;
  }
  static std::string layout() { return "refusable"; }
};

HAM_DEVICE_FUNCTION(ham::device_chain_functions::of_three, thread)
HAM_DEVICE_FUNCTION(ham::device_chain_functions::of_handle, thread)
HAM_DEVICE_FUNCTION(ham::device_chain_functions::of_value, thread)
HAM_DEVICE_FUNCTION(ham::device_chain_functions::of_grid, grid)
HAM_DEVICE_FUNCTION(ham::device_chain_functions::much, thread)
HAM_DEVICE_FUNCTION(ham::device_chain_functions::of_refusable, thread)

namespace ham::inline v1::detail {
namespace {

using namespace device_chain_functions;
namespace wire = device::detail;

/// Calls of node 1, which has a device, as they arrive there.
class device_chains : public test::device_job {
 protected:
  template <auto Function, class... Args>
  bool add(std::initializer_list<device_chain::use> uses, const Args&... args) {
    payload.resize((std::size_t{0} + ... + msg::encoded_size(args)));
    msg::writer to(payload.data(), payload.size());
    (msg::encode(to, args), ...);
    incoming_call call{node, &node->own, payload, number++,
                       &call_of<std::decay_t<decltype(fn<Function>)>, Args...>::message::entry()};
    return chain.add(call, std::span(uses.begin(), uses.size()));
  }
  [[nodiscard]] std::uint64_t word(std::size_t at) {
    std::uint64_t found = 0;
    std::memcpy(&found, chain.program().data() + 8 * at, sizeof found);
    return found;
  }

  engine* node =
      reinterpret_cast<engine*>(offload::sync(1, [] { return reinterpret_cast<std::uintptr_t>(&current()); }));
  std::vector<std::byte> payload;
  std::uint32_t number = 0;
  device_chain chain;
};

TEST_F(device_chains, hold_arguments_as_the_device_reads_them_and_uses_to_their_places) {
  const std::vector<float> some{1, 2, 3};
  const std::span<const float> values(some);
  ASSERT_TRUE((add<&of_three>({}, 1.5, values, std::uint16_t{7})));
  ASSERT_TRUE((add<&of_three>({{0, 0}}, 0.0, values, std::uint16_t{8})));
  ASSERT_EQ(chain.steps().size(), 2U);
  const wire::chain_step first = wire::chain_step::of(word(0));
  EXPECT_EQ(first.function, (wire::declared_function<decltype(&of_three), &of_three>::entry().number()));
  EXPECT_EQ(first.size, 8U + 8U + 12U + 2U);
  EXPECT_TRUE(first.has_arguments);
  EXPECT_EQ(first.words(), 4U);
  double x = 0;
  std::memcpy(&x, chain.program().data() + 8, sizeof x);
  EXPECT_EQ(x, 1.5);
  const wire::chain_step second = wire::chain_step::of(word(5));
  EXPECT_EQ(second.copies, 1U);
  const wire::chain_copy copy = wire::chain_copy::of(word(10));
  EXPECT_EQ(copy.from, 0U);
  EXPECT_EQ(copy.to, 0U);
  EXPECT_EQ(copy.size, 8U);
  EXPECT_EQ(chain.program().size(), 11 * 8U);
  EXPECT_EQ(chain.steps()[1].result_at, 16U);
  chain.cut(1);
  EXPECT_EQ(chain.steps().size(), 1U);
  EXPECT_EQ(chain.program().size(), 5 * 8U);
  EXPECT_EQ(executed.load(), 0);
}

TEST_F(device_chains, take_no_call_that_they_cannot_hold) {
  ASSERT_TRUE((add<&of_three>({}, 1.5, std::span<const float>(), std::uint16_t{7})));
  EXPECT_FALSE((add<&of_grid>({}, 1.0))) << "all blocks execute it";
  EXPECT_FALSE((add<&of_three>({{1, 0}}, 1.5, std::span<const float>(), std::uint16_t{7}))) << "a span's bytes";
  EXPECT_FALSE((add<&of_value>({{0, 0}}, 1U))) << "a result of another size, which nobody records";
  const offload::buffer<int> some(1, 4);
  ASSERT_TRUE((add<&of_handle>({}, some.ptr())));
  EXPECT_FALSE((add<&of_handle>({{0, 1}}, some.ptr()))) << "what has a codec of its own";
  const std::size_t before = chain.program().size();
  const std::vector<float> many(300);
  EXPECT_FALSE((add<&of_three>({}, 1.5, std::span<const float>(many), std::uint16_t{7}))) << "too long";
  ASSERT_TRUE((add<&much>({}, kilobyte())));
  EXPECT_FALSE((add<&much>({{0, 2}}, kilobyte()))) << "its result has no room";
  EXPECT_EQ(chain.steps().size(), 3U);
  EXPECT_EQ(chain.program().size(), before + 8 + 600);
  EXPECT_EQ(executed.load(), 0);
}

TEST_F(device_chains, take_no_call_whose_arguments_are_refused) {
  refuses_arguments = true;
  EXPECT_FALSE((add<&of_refusable>({}, refusable{5})));
  refuses_arguments = false;
  EXPECT_TRUE(chain.steps().empty());
  EXPECT_TRUE((add<&of_refusable>({}, refusable{5})));
}

}  // namespace
}  // namespace ham::detail
