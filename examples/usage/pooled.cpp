// pooled: an execution policy. The call runs on the target's thread pool instead of in its receiving loop.
// expect: 2 calls met each other on the target
// env: HAM_POOL_THREADS=2
#include <ham/offload.hpp>

#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>

using namespace ham;

std::mutex meeting_mutex;
std::condition_variable somebody_came;
int present = 0;

// Returns when `wanted` calls are in here at the same time: with the direct policy, the second would never start.
int rendezvous(int wanted) {
  std::unique_lock lock(meeting_mutex);
  ++present;
  somebody_came.notify_all();
  somebody_came.wait_for(lock, std::chrono::seconds(5), [wanted] { return present >= wanted; });
  return present;
}

int main() {
  auto first = offload::async(1, pooled(fn<&rendezvous>), 2);
  auto second = offload::async(1, pooled(fn<&rendezvous>), 2);
  const int met = first.get();
  std::cout << (second.get() == met ? met : 0) << " calls met each other on the target\n";
}
