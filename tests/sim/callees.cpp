// Callees note that they run, and give what the model of the job expects.
#include "sim/callees.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/clock.hpp"
#include "runtime/engine.hpp"

namespace ham::inline v0::sim {

oracle* the_oracle = nullptr;
int objects_alive = 0;

namespace {
void compute(std::int64_t ns) {
  if (ns != 0) base::sleep_ns(ns);
}
}  // namespace

std::int64_t result_of(call_number call, std::int64_t value) { return value * 31 + call; }

std::int64_t work(call_number call, std::int64_t value, std::int64_t takes_ns) {
  the_oracle->begin(call, offload::this_node());
  compute(takes_ns);
  return result_of(call, value);
}

void note(call_number call, std::int64_t takes_ns) {
  the_oracle->begin(call, offload::this_node());
  compute(takes_ns);
}

std::vector<std::int32_t> reversed(call_number call, std::vector<std::int32_t> values) {
  the_oracle->begin(call, offload::this_node());
  std::ranges::reverse(values);
  return values;
}

std::string words_of(call_number call) { return "call " + std::to_string(call) + " throws"; }

std::int64_t throwing(call_number call) {
  the_oracle->begin(call, offload::this_node());
  throw std::runtime_error(words_of(call));
}

std::int64_t along(call_number call, std::vector<node_t> route, std::vector<call_number> calls,
                   std::vector<char> load) {
  the_oracle->begin(call, offload::this_node());
  if (route.empty()) return static_cast<std::int64_t>(load.size());
  const node_t next = route.back();
  const call_number next_call = calls.back();
  route.pop_back();
  calls.pop_back();
  return 1 + offload::sync(next, fn<&along>, next_call, route, calls, load);
}

std::int64_t swallow(call_number call, std::vector<char> load) {
  the_oracle->begin(call, offload::this_node());
  return static_cast<std::int64_t>(load.size());
}

std::int64_t pump(call_number call, node_t to, std::vector<call_number> calls, std::uint32_t bytes) {
  the_oracle->begin(call, offload::this_node());
  const std::vector<char> load(bytes);
  std::vector<offload::future<std::int64_t>> sent;
  for (const call_number one : calls) sent.push_back(offload::async(to, fn<&swallow>, one, load));
  std::int64_t sum = 0;
  for (auto& one : sent) sum += one.get();
  return sum;
}

std::int64_t counter::add(call_number call, std::int64_t what) {
  the_oracle->begin(call, offload::this_node());
  return value_ += what;
}

std::int64_t add_to(call_number call, offload::remote_ref<counter> object, call_number inner, std::int64_t what) {
  the_oracle->begin(call, offload::this_node());
  return object.call<&counter::add>(inner, what);
}

std::string left_over() {
  detail::engine& here = detail::current();
  std::size_t pending = 0;
  here.locked([&] {
    here.calls.fail_pending([&](const detail::call_slot&) {
      ++pending;
      return nullptr;
    });
  });
  std::string text;
  if (pending != 0) text += std::to_string(pending) + " pending calls, ";
  if (here.calls_in.has_deferred()) text += "calls that have not begun, ";
  if (const auto full = here.peers.filled_outboxes().load(); full != 0)
    text += std::to_string(full) + " outboxes that are not empty, ";
  if (here.flow.take(here.flow.max_bytes()))
    here.flow.drop(here.flow.max_bytes());
  else
    text += "room of calls that is not given back, ";
  return text;
}

}  // namespace ham::sim
