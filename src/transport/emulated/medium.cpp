// Reading the settings of an emulated link.
#include "transport/emulated/medium.hpp"

#include <cmath>

#include "base/numbers.hpp"
#include "ham/error.hpp"

namespace ham::inline v1::transport::emulated {
namespace {

constexpr std::int64_t max_ns = 1'000'000'000;

[[noreturn]] void refuse(std::string_view setting, const std::string& why) {
  throw config_error("cannot use \"" + std::string(setting) + "\" of an emulated link (" + why +
                     "); write settings like emulated:1/initiator=host/read=1200/write=600/to=10.6/from=11.1");
}

std::int64_t nanoseconds(std::string_view setting, std::string_view value) {
  if (const auto result = base::parse_integer(value, 0, max_ns)) return *result;
  refuse(setting, "nanoseconds from 0 to 1000000000 are expected");
}

double gib_per_second(std::string_view setting, std::string_view value) {
  const double result = base::parse_decimal(value).value_or(0);
  if (!(result >= 0.0001 && result <= 100'000)) {
    refuse(setting, "GiB/s from 0.0001 to 100000 are expected");
  }
  return result;
}

std::uint32_t one_of(std::string_view setting, std::string_view value, std::string_view zero, std::string_view one) {
  if (value == zero) return 0;
  if (value == one) return 1;
  refuse(setting, std::string(zero) + " or " + std::string(one) + " is expected");
}

void apply(medium& to, std::string_view setting) {
  const std::size_t equals = setting.find('=');
  const std::string_view key = setting.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? std::string_view() : setting.substr(equals + 1);
  if (key == "initiator")
    to.by = static_cast<initiator>(one_of(setting, value, "target", "host"));
  else if (key == "posted")
    to.posted = one_of(setting, value, "no", "yes");
  else if (key == "read")
    to.read_ns = nanoseconds(setting, value);
  else if (key == "write")
    to.write_ns = nanoseconds(setting, value);
  else if (key == "setup")
    to.setup_ns = nanoseconds(setting, value);
  else if (key == "store")
    to.store_ns = nanoseconds(setting, value);
  else if (key == "to")
    to.to_target_gib_s = gib_per_second(setting, value);
  else if (key == "from")
    to.to_host_gib_s = gib_per_second(setting, value);
  else
    refuse(setting, "the keys are initiator, posted, read, write, setup, store, to and from");
}

}  // namespace

bool medium::sane() const noexcept {
  const auto time = [](std::int64_t ns) { return ns >= 0 && ns <= max_ns; };
  const auto rate = [](double gib_s) { return gib_s >= 0.0001 && gib_s <= 100'000; };
  return by <= initiator::host && posted <= 1 && time(read_ns) && time(write_ns) && time(setup_ns) && time(store_ns) &&
         rate(to_target_gib_s) && rate(to_host_gib_s);
}

medium parse_medium(std::string_view text) {
  medium result;
  while (!text.empty()) {
    const std::size_t slash = text.find('/');
    apply(result, text.substr(0, slash));
    text.remove_prefix(slash == std::string_view::npos ? text.size() : slash + 1);
  }
  return result;
}

}  // namespace ham::transport::emulated
