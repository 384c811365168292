// Calls as senders: composed first, sent when they are started. Without a sender library HAM's own names stand in.
// expect: nothing was sent: 0
// expect: one call: 49
// expect: on node 1: hello from node 1
// expect: no such matrix
// expect: stopped: true
// expect: both: 10
#include <ham/offload.hpp>
#include <ham/offload/senders.hpp>

#include <atomic>
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

using namespace ham;

int calls = 0;
int square(int value) { return ++calls, value * value; }
int calls_so_far() { return calls; }
void find(const std::string& name) { throw std::invalid_argument("no such " + name); }
void work_until_stopped() {
  const auto stop = this_call::stop_token();
  while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  throw operation_cancelled("stopped as asked");
}

/// What a library's adaptors do: a receiver is told how the operation has ended, and has an environment with a stop
/// token.
struct adder {
  using receiver_concept = offload::execution::receiver_tag;
  struct environment {
    std::stop_token token;
    std::stop_token query(offload::execution::get_stop_token_t) const noexcept { return token; }
  };
  struct state {
    std::atomic<int> sum{0};
    std::atomic<int> pending{0};
    std::atomic<bool> stopped{false};
    std::stop_source stop;
  };

  state* to;

  void set_value() noexcept { --to->pending; }
  void set_value(int value) noexcept {
    to->sum += value;
    --to->pending;
  }
  void set_error(std::exception_ptr) noexcept { --to->pending; }
  void set_stopped() noexcept {
    to->stopped = true;
    --to->pending;
  }
  environment get_env() const noexcept { return {to->stop.get_token()}; }
};

int main() {
  const auto work = offload::call(1, fn<&square>, 7);
  std::cout << "nothing was sent: " << offload::sync(1, fn<&calls_so_far>) << '\n';
  const auto [result] = *offload::sync_wait(work);
  std::cout << "one call: " << result << '\n';

  // Both functions run on the node; the string crosses once, on its way back.
  const auto greeting =
      *offload::sync_wait(offload::schedule(1) | offload::then([] { return offload::this_node(); }) |
                          offload::then([](node_t node) { return "hello from node " + std::to_string(node); }));
  std::cout << "on node 1: " << std::get<0>(greeting) << '\n';

  try {
    offload::sync_wait(offload::call(1, fn<&find>, "matrix"));
  } catch (const std::invalid_argument& error) {
    std::cout << error.what() << '\n';
  }

  // Operations by hand: nothing is allocated here, their state is these variables.
  adder::state all;
  all.pending = 2;
  auto first = offload::call(1, fn<&square>, 1).connect(adder{&all});
  auto second = offload::as_sender(offload::async(1, fn<&square>, 3)).connect(adder{&all});
  first.start();
  second.start();
  while (all.pending != 0) offload::progress_for(std::chrono::milliseconds(1));
  const int sum = all.sum;

  all.pending = 1;
  auto endless = offload::call(1, fn<&work_until_stopped>).connect(adder{&all});
  endless.start();
  all.stop.request_stop();
  while (all.pending != 0) offload::progress_for(std::chrono::milliseconds(1));
  std::cout << "stopped: " << std::boolalpha << all.stopped << "\nboth: " << sum << '\n';
}
