// Functions in C++ that programs in C call by their names: bytes or a string in, bytes or a string out.
#include <ham/offload.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

int calls = 0;

std::string greet(std::string_view who) {
  ++calls;
  if (who.empty()) throw std::invalid_argument("the name is empty");
  return "Hello, " + std::string(who);
}
std::vector<std::byte> backwards(std::span<const std::byte> bytes) {
  ++calls;
  return {bytes.rbegin(), bytes.rend()};
}
std::string count() { return std::to_string(calls) + " calls"; }

const bool offered = ham::offload::offer(ham::named<"greet">(ham::fn<&greet>)) &&
                     ham::offload::offer(ham::named<"backwards">(ham::fn<&backwards>)) &&
                     ham::offload::offer(ham::named<"count">(ham::fn<&count>));

}  // namespace
