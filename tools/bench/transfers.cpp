// ham-bench transfers: whether a put or a get costs the host anything while it computes.
#include "benchmarks.hpp"

#include "overlapped_transfers.hpp"
#include "tcp_job.hpp"

#include <optional>

namespace ham::inline v1::bench {

report run_transfers(const settings& how) {
  std::optional<tcp_server> server;
  if (how.transport == "tcp") server.emplace(false, how.all_cores);
  const auto job = server ? server->host() : start_job(how, 1, pinning::by_default);
  return measure_overlapped_transfers(how.repetitions);
}

}  // namespace ham::bench
