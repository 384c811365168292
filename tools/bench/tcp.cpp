// ham-bench tcp: calls and transfers over loopback sockets, beside bare sockets and bare encryption.
#include "benchmarks.hpp"
#include "cipher_floor.hpp"
#include "cut_link.hpp"
#include "process_state.hpp"
#include "socket_partner.hpp"
#include "tcp_job.hpp"
#include "tcp_pair.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ham::inline v1::bench {

namespace {

/// What an empty call and its answer are on the wire: a frame's head and nothing else.
constexpr std::size_t call_bytes = 24;
constexpr std::size_t calls_under_way = 1000;
constexpr std::size_t judged_tls_bytes = std::size_t{256} << 20;
constexpr int deaths = 5;

std::vector<double> gigabytes_per_s(std::size_t bytes, std::vector<double> times_ns) {
  for (double& one : times_ns) one = static_cast<double>(bytes) / one;
  return times_ns;
}

/// All that is found with one kind of security.
struct findings {
  paired_rounds calls;
  std::vector<double> pipelined_ns;  // of one call
  paired_rounds puts;                // floor: plain stream
  paired_rounds gets;                // floor: plain stream
  std::vector<double> aes_ns;
  std::vector<double> sealed_ns;
  std::vector<double> tls_ns;
};

double pipelined_ns(block_plan plan) {
  std::vector<offload::future<void>> pending;
  pending.reserve(calls_under_way);
  plan.group = 1;
  const block_times taken = time_block(
      [&] {
        for (std::size_t i = 0; i < calls_under_way; ++i) pending.push_back(offload::async(1, fn<&nothing>));
        for (auto& one : pending) one.get();
        pending.clear();
      },
      plan);
  return taken.typical_ns / static_cast<double>(calls_under_way);
}

void measure_calls(const settings& how, bool secure, findings& found) {
  tcp_pair with(secure, {how.cores.host}, {how.cores.target});
  for (int round = 0; round < how.repetitions; ++round) {
    take_round(
        found.calls, round, [&] { return with.partner().ping_pong(call_bytes, how.plan()); },
        [&] { return time_block([] { offload::sync(1, fn<&nothing>); }, how.plan()); });
    found.pipelined_ns.push_back(pipelined_ns(how.plan()));
  }
}

template <class Operation>
block_times timed(Operation&& operation) {
  const std::int64_t begin = now_ns();
  operation();
  return {static_cast<double>(now_ns() - begin), {}};
}

/// Nobody is pinned: the kernel is quicker where it may choose, for the floor as for HAM.
void measure_transfers(const settings& how, bool secure, findings& found) {
  tcp_pair with(secure, how.all_cores, how.all_cores);
  const std::size_t bytes = std::min(how.largest_bytes, judged_tls_bytes);
  std::vector<std::byte> local(bytes, std::byte{7});
  const offload::buffer<std::byte> there(1, bytes);
  const auto put = [&] { offload::put_sync(local.data(), there.ptr(), bytes); };
  const auto get = [&] { offload::get_sync(there.ptr(), local.data(), bytes); };
  const auto stream = [&] { return block_times{with.partner().stream_ns(local), {}}; };
  put();  // touches all pages, opens the lane
  stream();
  for (int round = 0; round < how.repetitions; ++round) {
    take_round(found.puts, round, stream, [&] { return timed(put); });
    take_round(found.gets, round, stream, [&] { return timed(get); });
    if (!secure || !cipher_available()) continue;
    found.aes_ns.push_back(aes_256_gcm_ns(local));
    found.sealed_ns.push_back(with.partner().sealed_stream_ns(local));
    found.tls_ns.push_back(with.partner().tls_stream_ns(local));
  }
}

findings measure(const settings& how, bool secure) {
  findings found;
  measure_calls(how, secure, found);
  measure_transfers(how, secure, found);
  return found;
}

void sleep_long() { ::sleep(60); }

/// Milliseconds from the kill of a target to the error of the call that it was at.
double death_ms(const settings& how) {
  const tcp_server server(true, how.all_cores);
  std::vector<double> all;
  for (int i = 0; i < deaths; ++i) {
    const std::unique_ptr<runtime> job = server.host();
    const auto target = static_cast<pid_t>(offload::get_node_descriptor(1).pid());
    auto pending = offload::async(1, fn<&sleep_long>);
    static_cast<void>(wait_until_asleep(target, std::chrono::milliseconds(200)));
    const std::int64_t begin = now_ns();
    ::kill(target, SIGKILL);
    try {
      pending.get();
    } catch (const node_failure&) {
      all.push_back(static_cast<double>(now_ns() - begin) * 1e-6);
    }
  }
  return all.size() == deaths ? quantile(all, 1) : std::numeric_limits<double>::quiet_NaN();
}

void add_calls(const findings& plain, const findings* secure, report& to) {
  table calls{"one empty call and its answer; floor: as many bytes sent and received over a bare socket, both spinning",
              {"security"},
              {}};
  add_median_columns(calls.columns, "", "us");
  calls.columns.insert(calls.columns.end(), {"floor us", "ratio", "quartiles"});
  add_median_columns(calls.columns, "1000 under way,", "million/s");
  const auto add = [&](const char* name, const findings& found) {
    const comparison one = found.calls.compared();
    auto& row = calls.rows.emplace_back(std::vector<cell>{name});
    add_median(row, one, 1e3, 2);
    row.insert(row.end(), {{one.floor / 1e3, 2}, {one.median_of_ratios, 3}, quartiles_of_ratio(one)});
    add_median(row, gigabytes_per_s(1, found.pipelined_ns), 1e-3, 2);  // a call per ns: 10^3 million/s
    return one.median_of_ratios;
  };
  to.bars.push_back(
      {"empty sync, plaintext / bare socket", add("plaintext", plain), bar::direction::at_most, 1.15, ""});
  if (secure != nullptr) {
    to.bars.push_back({"empty sync, TLS / bare socket", add("TLS", *secure), bar::direction::at_most, 1.5, ""});
    to.bars.push_back(
        {"1000 calls under way, TLS", 1e3 / median(secure->pipelined_ns), bar::direction::at_least, 1, "million/s"});
  }
  to.tables.push_back(std::move(calls));
}

void add_transfers(const settings& how, const findings& plain, const findings* secure, report& to) {
  const std::size_t bytes = std::min(how.largest_bytes, judged_tls_bytes);
  table speeds{"one transfer of " + std::to_string(bytes >> 20) + " MiB; ratios of the same rounds", {"security"}, {}};
  for (const char* name : {"put", "get", "plain stream"}) add_median_columns(speeds.columns, name, "GB/s");
  speeds.columns.insert(speeds.columns.end(), {"put / stream", "get / stream"});
  const auto add = [&](const char* name, const findings& found) {
    const comparison put = found.puts.compared();
    const comparison get = found.gets.compared();
    auto& row = speeds.rows.emplace_back(std::vector<cell>{name});
    for (const auto* times : {&found.puts.measured, &found.gets.measured, &found.puts.floor}) {
      add_median(row, gigabytes_per_s(bytes, *times), 1, 2);
    }
    row.insert(row.end(), {{1 / put.median_of_ratios, 2}, {1 / get.median_of_ratios, 2}});
    return 1 / put.median_of_ratios;
  };
  const double part = add("plaintext", plain);
  if (bytes == judged_tls_bytes)
    to.bars.push_back({"put of 256 MiB, plaintext / plain stream", part, bar::direction::at_least, 0.9, ""});
  if (secure != nullptr) add("TLS", *secure);
  to.tables.push_back(std::move(speeds));
  if (secure == nullptr || secure->aes_ns.empty()) return;

  table ciphers{"the put with TLS beside OpenSSL", {"encryption"}, {}};
  add_median_columns(ciphers.columns, "", "GB/s");
  ciphers.columns.insert(ciphers.columns.end(), {"put / it", "quartiles"});
  const auto add_cipher = [&](const char* name, const std::vector<double>& times_ns) {
    const comparison one = compare(times_ns, secure->puts.measured);
    auto& row = ciphers.rows.emplace_back(std::vector<cell>{name});
    add_median(row, gigabytes_per_s(bytes, times_ns), 1, 2);
    row.insert(row.end(), {{one.median_of_ratios, 2}, quartiles_of_ratio(one)});
    return one;
  };
  const comparison to_aes = add_cipher("AES-256-GCM of OpenSSL, one core, nothing else", secure->aes_ns);
  add_cipher("AES-256-GCM of OpenSSL over a bare socket, one core at either end", secure->sealed_ns);
  add_cipher("SSL_write and SSL_read over a bare socket", secure->tls_ns);
  to.tables.push_back(std::move(ciphers));
  if (bytes == judged_tls_bytes)
    to.bars.push_back(
        {"put of 256 MiB, TLS / AES-256-GCM", to_aes.median_of_ratios, bar::direction::at_least, 0.7, ""});
}

void add_cut_link(report& to) {
  const std::optional<cut_link_times> found = measure_cut_link();
  if (!found) {
    to.remarks.emplace_back("no cable was pulled: that needs root, network namespaces and iproute2");
    return;
  }
  to.bars.push_back(
      {"a cut link is noticed after, one call waiting", found->quiet_ms, bar::direction::at_most, 3000, "ms"});
  to.bars.push_back(
      {"a cut link is noticed after, calls being sent", found->busy_ms, bar::direction::at_most, 3000, "ms"});
}

}  // namespace

report run_tcp(const settings& how) {
  report result{"tcp", {}, {}, {}};
  const module_state tcp = find_module("tcp");
  if (!tcp.available) throw std::runtime_error("tcp cannot be measured: " + tcp.remark);
  const bool can_encrypt = tcp.remark.empty();
  const findings plain = measure(how, false);
  std::optional<findings> secure;
  if (can_encrypt) secure = measure(how, true);
  add_calls(plain, secure ? &*secure : nullptr, result);
  add_transfers(how, plain, secure ? &*secure : nullptr, result);
  if (can_encrypt)
    result.bars.push_back({"a killed target is noticed after", death_ms(how), bar::direction::at_most, 100, "ms"});
  else
    result.remarks.push_back("nothing with TLS was measured: " + tcp.remark);
  if (can_encrypt) add_cut_link(result);
  if (can_encrypt) result.remarks.push_back("TLS: " + tcp.version);
  if (!cipher_available()) result.remarks.emplace_back("built without OpenSSL: no floors of encryption");
  if (std::min(how.largest_bytes, judged_tls_bytes) != judged_tls_bytes)
    result.remarks.emplace_back("256 MiB was not measured (--largest), so no transfer is judged");
  if (!how.cores.distinct()) result.remarks.emplace_back("one core only: the ratios say little");
  return result;
}

}  // namespace ham::bench
