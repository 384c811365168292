// The benchmarks of ham-bench, one per subcommand.
#pragma once

#include "report.hpp"
#include "session.hpp"

namespace ham::inline v1::bench {

/// Empty call, beside the bounce of a cache line; calls with 8 B to 64 KiB of arguments or results, beside as many
/// lines written by one process and copied out by the other.
[[nodiscard]] report run_latency(const settings& how);

/// Calls per second: the four tests of AVEO (paper 2) for 1 to 100 000 calls, and batches.
[[nodiscard]] report run_rate(const settings& how);

/// put, get and copy of 1 byte to 256 MiB beside memcpy. Over tcp put and get beside a bare stream; over emulated as
/// run_link_bandwidth().
[[nodiscard]] report run_bandwidth(const settings& how);

/// Paper 1's Fig. 10 and Table IV: both directions over emulated links, initiated by either side, beside bare accesses.
[[nodiscard]] report run_link_bandwidth(const settings& how);

/// put and get over tcp on loopback, in plaintext and with TLS, beside a bare stream.
[[nodiscard]] report run_tcp_bandwidth(const settings& how);

/// 1 to 128 targets started, called once and ended; private memory of each.
[[nodiscard]] report run_startup(const settings& how);

/// Processor time of a waiting target, and the first call after a second of silence beside a futex ping-pong.
[[nodiscard]] report run_idle(const settings& how);

/// Latency to one target while up to 200 others are connected and idle.
[[nodiscard]] report run_scale(const settings& how);

/// Empty call and floor over each kind of core pair that the machine has.
[[nodiscard]] report run_placement(const settings& how);

/// Work on host and target at once: placed by default beside pinned and beside left to the system, on a quiet machine
/// and beside busy processes, which it starts.
[[nodiscard]] report run_overlap(const settings& how);

/// put and get of 64 MiB while the host computes for as long, beside either alone.
[[nodiscard]] report run_transfers(const settings& how);

/// put and get of 4 MiB in rows of 64 B to 512 KiB at a pitch, in one operation and row by row, beside memcpy of the
/// rows.
[[nodiscard]] report run_blocks(const settings& how);

/// Calls between two targets that only the host connects, beside both hops made by hand.
[[nodiscard]] report run_relay(const settings& how);

/// Calls whose arguments or results are 64 KiB to 32 MiB of numbers, one at a time and eight under way, beside the same
/// bytes written by one process into shared memory and copied out by another.
[[nodiscard]] report run_values(const settings& how);

/// An empty call whose host waits in epoll, beside a bare round trip over two event descriptors.
[[nodiscard]] report run_event_loop(const settings& how);

/// 10^5 tasks of 10 us on a pool of two targets, as calls and as a map, beside two threads that run the same tasks.
[[nodiscard]] report run_pool(const settings& how);

/// From request_stop() until a function that polls its stop token has seen it, over shared memory and tcp, beside an
/// empty call; what a poll costs. Empty calls that nothing can stop, before and after calls with stops, beside a
/// bounced cache line; what a deadline or a token adds to a call.
[[nodiscard]] report run_stops(const settings& how);

/// Empty calls made as senders, beside the same calls made with async; what they allocate.
[[nodiscard]] report run_senders(const settings& how);

/// From kill -9 of a supervised target to the first answer of its successor, 143 times a round; what the host holds
/// before and afterwards.
[[nodiscard]] report run_respawn(const settings& how);

/// One call for 1 to 256 targets along the tree of a group, beside one call to each; who sends how many messages.
[[nodiscard]] report run_groups(const settings& how);
/// Replays of recorded graphs - dependent calls on one target and over 2 to 8, a repeat, conjugate gradients - beside
/// the same calls made by the host; messages and allocations of a replay, messages of the host for a solve.
[[nodiscard]] report run_graphs(const settings& how);

/// Empty calls in jobs that are traced to a file, beside such in jobs that are not.
[[nodiscard]] report run_traces(const settings& how);

/// Calls from one to four host threads at once.
[[nodiscard]] report run_threads(const settings& how);

/// Empty calls, calls under way and large transfers over tcp on loopback, beside bare sockets and bare encryption; how
/// soon a killed target is noticed.
[[nodiscard]] report run_tcp(const settings& how);

/// libveo: paper 2's Tests 1 to 4 for 1 to 300 000 calls, memory, idleness. Only where libveo is built.
[[nodiscard]] report run_veo(const settings& how);

/// An empty native call of libveo beside HAM over that libveo. Only where libveo is built.
[[nodiscard]] report run_veo_offload(const settings& how);

/// Empty offloads and transfers beside OpenMP target regions, as paper 3 compares with LEO. Throws std::runtime_error
/// unless openmp_built().
[[nodiscard]] report run_openmp(const settings& how);

/// Whether a compiler for OpenMP target regions was there when this program was built.
[[nodiscard]] bool openmp_built();

/// Empty offloads over emulated PCIe links, both protocols of paper 1: beside the bare exchange over the same link, and
/// with the latencies of its Fig. 9.
[[nodiscard]] report run_protocols(const settings& how);

}  // namespace ham::bench
