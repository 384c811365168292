// read_counters: what the nodes of a job do, read from outside of its messages. Another process of the user can do the
// same, with the pid of any process of the job: it needs no runtime, and the job does not notice.
// expect: ^node 0 has sent 1000 calls more$
// expect: ^node 1 has executed 1000 calls more, half of them in less than a second$
#include <ham/offload.hpp>
#include <ham/offload/counters.hpp>

#include <unistd.h>

#include <iostream>
#include <thread>

using namespace ham;

void nothing() {}

/// The job of this process, which is its host.
job_counters own_job() { return read_counters(::getpid()).front(); }

int main() {
  const job_counters before = own_job();
  for (int i = 0; i < 1000; ++i) offload::sync(1, fn<&nothing>);

  // A node counts that a call is over when its answer may have arrived already.
  const auto executed = [](const job_counters& job) { return job.nodes.at(1).executed; };
  job_counters after = own_job();
  for (; executed(after) < executed(before) + 1000; after = own_job()) std::this_thread::yield();

  std::cout << "node 0 has sent " << after.nodes.at(0).all.calls_sent - before.nodes.at(0).all.calls_sent
            << " calls more\n";
  const auto took = added(before.nodes.at(1).took, after.nodes.at(1).took);
  std::cout << "node 1 has executed " << executed(after) - executed(before) << " calls more, half of them in "
            << (quantile(took, 0.5) < 1 ? "less" : "more") << " than a second\n";
}
