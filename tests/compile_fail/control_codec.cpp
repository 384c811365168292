// expect: compiles
// The control: what the codec's cases beside it do wrong, done right.
#include <ham/msg/codec.hpp>

#include <set>
#include <span>
#include <string>

struct person {
  std::string name;
  HAM_FIELDS(name)
};

void send(ham::msg::writer& to, const person& someone, std::span<const double> values, const std::set<int>& numbers) {
  ham::msg::encode(to, someone);
  ham::msg::encode(to, values);
  ham::msg::encode(to, numbers);
}

person receive(ham::msg::reader& from) { return ham::msg::decode<person>(from); }

static_assert(ham::msg::require_argument<std::span<const double>>() && ham::msg::require_result<void>());
