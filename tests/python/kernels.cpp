// Functions that tests in Python call by name: one for each kind of value.
#include <chrono>
#include <complex>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "ham/offload.hpp"
#include "ham/offload/function_by_name.hpp"

namespace {

using namespace ham;

double add(double a, double b) { return a + b; }
std::vector<double> scale(std::span<const double> values, double factor) {
  std::vector<double> scaled(values.begin(), values.end());
  for (double& value : scaled) value *= factor;
  return scaled;
}
std::string greet(std::string_view who, bool loud) { return (loud ? "HELLO " : "hello ") + std::string(who); }
std::vector<std::byte> backwards(std::span<const std::byte> bytes) { return {bytes.rbegin(), bytes.rend()}; }
std::map<std::string, int> count(const std::vector<std::string>& words) {
  std::map<std::string, int> counted;
  for (const std::string& word : words) ++counted[word];
  return counted;
}
std::tuple<std::optional<int>, std::set<short>, std::complex<double>> mixed(std::optional<int> number,
                                                                            std::pair<short, short> two) {
  return {number ? std::optional<int>(*number + 1) : std::nullopt, {two.first, two.second}, {1.5, -2}};
}
void nothing() {}
void throws(const std::string& text) { throw std::runtime_error(text); }
void throws_latin() {
  throw std::runtime_error(
      "Gr\xf6\xdf"
      "e");
}
void sleeps(unsigned milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }
double sum(offload::buffer_ptr<double> numbers, unsigned long size) {
  double total = 0;
  for (unsigned long at = 0; at < size; ++at) total += numbers[at];
  return total;
}

double span_sum(offload::buffer_span<double> numbers) {
  double total = 0;
  for (const double number : numbers.local()) total += number;
  return total;
}

struct counter {
  explicit counter(int start) : value(start) {}
  int value;
};
offload::remote_ref<counter> make_counter(int start) {
  return offload::make<counter>(offload::this_node(), start).release();
}
int add_to(offload::remote_ref<counter> to, int more) { return to.local().value += more; }
void end_counter(offload::remote_ref<counter> what) { offload::destroy(what); }

/// Calls a function in Python.
double total_there(int node, const std::vector<double>& values) {
  return offload::function_by_name<double(std::vector<double>, double)>("py_test.total")(node, values, 2.0);
}
/// Whether the other node's function in Python ends when it has no more time. On a busy machine it has answered before
/// this node sees that: with the time that it had.
bool ends_in_time(int node) {
  const offload::function_by_name<double()> waits("py_test.waits");
  try {
    return waits.async(offload::within(node, std::chrono::milliseconds(50))).get() <= 0.05;
  } catch (const deadline_exceeded&) {
    return true;
  }
}

template <class Callable>
bool give(const Callable& what) {
  return offload::offer(what);
}
const bool offered =
    give(named<"py_test.add">(fn<&add>)) && give(named<"py_test.scale">(fn<&scale>)) &&
    give(named<"py_test.greet">(fn<&greet>)) && give(named<"py_test.backwards">(fn<&backwards>)) &&
    give(named<"py_test.count">(fn<&count>)) && give(named<"py_test.mixed">(fn<&mixed>)) &&
    give(named<"py_test.nothing">(fn<&nothing>)) && give(named<"py_test.throws">(fn<&throws>)) &&
    give(named<"py_test.throws_latin">(fn<&throws_latin>)) && give(named<"py_test.sleeps">(fn<&sleeps>)) &&
    give(named<"py_test.sum">(fn<&sum>)) && give(named<"py_test.span_sum">(fn<&span_sum>)) &&
    give(named<"py_test.make_counter">(fn<&make_counter>)) && give(named<"py_test.add_to">(fn<&add_to>)) &&
    give(named<"py_test.end_counter">(fn<&end_counter>)) && give(named<"py_test.total_there">(fn<&total_there>)) &&
    give(named<"py_test.ends_in_time">(fn<&ends_in_time>));

}  // namespace
