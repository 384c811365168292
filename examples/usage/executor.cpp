// Executors: on which thread continuations and coroutines go on.
// expect: shown by the main thread: 42
// expect: squared on another thread: yes
#include <ham/offload.hpp>

#include <functional>
#include <iostream>
#include <thread>

using namespace ham;

int answer() { return 42; }
int square(int x) { return x * x; }

// Up to the first co_await of on() it runs where progress is made, then on the pool's threads.
offload::task<bool> squared_elsewhere(std::thread::id main_thread) {
  const int value = co_await offload::async(1, fn<&square>, 3);
  co_await offload::on(offload::pool_executor{}, offload::async(1, fn<&square>, value));
  co_return std::this_thread::get_id() != main_thread;
}

int main() {
  // A queue is run by whoever likes, here by this thread: so does a user interface with its event loop.
  offload::work_queue window;
  auto shown = offload::async(1, fn<&answer>).then(std::ref(window), [](int value) {
    std::cout << "shown by the main thread: " << value << '\n';
  });
  while (!shown.test()) window.run();  // test() makes progress
  shown.get();

  auto elsewhere = squared_elsewhere(std::this_thread::get_id());
  std::cout << "squared on another thread: " << (elsewhere.get() ? "yes" : "no") << '\n';
}
