// context: a queue on a target with a thread of its own, beside the node's main queue.
// expect: the context's call was released by a call of the main queue: yes
// expect: its calls ran in order: 1 2 3
#include <ham/offload.hpp>

#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <vector>

using namespace ham;

// On the target: a door that one thread opens and another waits for.
std::mutex door_mutex;
std::condition_variable door_moved;
bool door_open = false;

void open_door() {
  const std::lock_guard lock(door_mutex);
  door_open = true;
  door_moved.notify_all();
}

bool wait_at_door() {
  std::unique_lock lock(door_mutex);
  return door_moved.wait_for(lock, std::chrono::seconds(5), [] { return door_open; });
}

std::vector<int> order;
std::vector<int> remember(int number) {
  order.push_back(number);
  return order;
}

int main() {
  const node_t target = 1;
  offload::context side_queue(target);

  // A long call in the context does not hold up the main queue: the call that ends the wait gets through.
  auto waiting = offload::async(side_queue, fn<&wait_at_door>);
  offload::sync(target, fn<&open_door>);
  std::cout << "the context's call was released by a call of the main queue: " << (waiting.get() ? "yes" : "no")
            << '\n';

  // Within one context, calls run one after the other, in the order in which they were made.
  auto first = offload::async(side_queue, fn<&remember>, 1);
  auto second = offload::async(side_queue, fn<&remember>, 2);
  std::cout << "its calls ran in order:";
  for (const int number : offload::sync(side_queue, fn<&remember>, 3)) std::cout << ' ' << number;
  std::cout << '\n';
  side_queue.close();
}
