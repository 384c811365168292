// Checks.
#include "sim/oracle.hpp"

#include <algorithm>
#include <cstdio>

#include "sim/scheduler.hpp"

namespace ham::inline v1::sim {

std::string oracle::describe(std::uint32_t call) const {
  const call_record& one = calls_[call];
  return "call " + std::to_string(call) + " to node " + std::to_string(one.target);
}

std::uint32_t oracle::issue(node_t target, std::uint32_t stream) {
  const auto number = static_cast<std::uint32_t>(calls_.size());
  calls_.push_back({target, stream, stream == 0 ? 0 : ++next_in_[stream]});
  if (target != on_any_node) calls_.back().epoch = numbers.epoch_of(target);
  running->note_progress();
  return number;
}

std::uint32_t oracle::issue_on(node_t process, std::uint32_t stream) {
  const std::uint32_t number = issue(process, stream);
  calls_[number].is_of_process = true;
  return number;
}

std::uint32_t oracle::issue_to_prepare(node_t number, node_t process) {
  const std::uint32_t call = issue(number);
  calls_[call].prepares = process;
  return call;
}

void oracle::begin(std::uint32_t call, node_t node) {
  if (call >= calls_.size()) running->fail("a call runs that nobody has made: number " + std::to_string(call));
  call_record& one = calls_[call];
  if (one.target != on_any_node && (one.is_of_process ? node : numbers.number_of(node)) != one.target)
    running->fail(describe(call) + " runs on node " + std::to_string(node));
  if (one.prepares >= 0 && one.prepares != node)
    running->fail(describe(call) + " is to prepare another process than that on which it runs");
  if (one.prepares < 0 && !numbers.is_prepared(node))
    running->fail(describe(call) + " runs on a process that is not prepared");
  if (++one.runs != 1 && !one.repeats) running->fail(describe(call) + " runs twice");
  if (one.repeats && one.runs > one.max_runs) running->fail(describe(call) + " runs more often than it may");
  if (one.never_runs) running->fail(describe(call) + " runs after its sender was told that it never will");
  one.last_run = node;
  if (one.stream != 0) {
    std::uint32_t& last = begun_in_[{one.stream, node}];
    if (one.position <= last) running->fail(describe(call) + " begins after a later one of the same sender");
    last = one.position;
  }
  ++executed_;
  running->note(0x100000000U + call);
  running->note_progress();
}

void oracle::begin_part(std::uint32_t call, std::uint32_t rank, std::uint32_t size) {
  call_parts& parts = parts_here(call);
  if (parts.begun == 0) parts.size = size;
  if (parts.size != size || rank >= size)
    running->fail(describe(call) + " is executed by thread " + std::to_string(rank) + " of " + std::to_string(size) +
                  ", and by one of " + std::to_string(parts.size));
  const std::uint64_t bit = std::uint64_t{1} << rank;
  if ((parts.begun & bit) != 0) running->fail(describe(call) + " is executed by two threads of the same rank");
  parts.begun |= bit;
}

void oracle::add_part(std::uint32_t call, std::int64_t value) {
  call_parts& parts = parts_here(call);
  parts.sum += value;
  ++parts.added;
}

std::int64_t oracle::sum_of_parts(std::uint32_t call) {
  const call_parts& parts = parts_here(call);
  if (parts.added != parts.size) running->fail(describe(call) + ": a thread passes a barrier before others have come");
  return parts.sum;
}

void oracle::expect_parts_ended(std::uint32_t call) {
  if (calls_[call].repeats) return;  // another process may have begun it, and died
  for (auto at = parts_.lower_bound({call, INT_MIN}); at != parts_.end() && at->first.first == call; ++at) {
    if (at->second.finished != at->second.size)
      running->fail(describe(call) + " has a result while threads execute it");
  }
}

bool oracle::has_ended(std::uint32_t call) const {
  const auto first = parts_.lower_bound({call, INT_MIN});
  if (first == parts_.end() || first->first.first != call) return calls_[call].ended;
  return first->second.begun != 0 && first->second.finished == first->second.size;
}

void oracle::end_repeats(std::uint32_t call) {
  call_record& one = calls_[call];
  const bool is_under_way = one.runs == 0 || numbers.is_doomed(one.last_run);
  const auto others = static_cast<unsigned>(numbers.doomed_alive(one.target));  // each may have one that has not begun
  one.max_runs = std::min(one.max_runs, one.runs + others + (is_under_way ? 1 : 0));
}

call_parts& oracle::parts_here(std::uint32_t call) { return parts_[{call, running->current().node}]; }

void oracle::note_printed(std::string_view line, node_t node) {
  std::uint32_t call = 0;
  std::uint32_t number = 0;
  const std::string text(line);
  if (std::sscanf(text.c_str(), "call %u line %u ", &call, &number) != 2 || call >= calls_.size())
    running->fail("a node prints what nobody has asked for: " + text);
  if (calls_[call].target != node)
    running->fail("node " + std::to_string(node) + " prints what another is to: " + text);
  if (number != printed_[call]++)
    running->fail(describe(call) + " prints line " + std::to_string(number) + " out of order, or twice");
  const std::string asked = printed_line(call, number);
  constexpr std::string_view cut = "...\n";
  const bool is_cut = text.size() > 120 && text.size() < asked.size() && text.ends_with(cut) &&
                      asked.starts_with(text.substr(0, text.size() - cut.size()));
  if (text != asked + "\n" && !is_cut) running->fail(describe(call) + " prints other words than it is to: " + text);
  running->note(0x300000000U + call);
}

void oracle::expect_printed(std::uint32_t call, std::uint32_t lines) {
  if (printed_[call] != lines)
    running->fail(describe(call) + " has printed " + std::to_string(printed_[call]) + " lines of " +
                  std::to_string(lines));
}

std::uint32_t oracle::call_to(std::uint32_t first, node_t node) const {
  std::uint32_t call = first;
  while (call < calls_.size() && calls_[call].target != node) ++call;
  if (call == calls_.size()) running->fail("node " + std::to_string(node) + " executes a call that it has no part in");
  return call;
}

std::string printed_line(std::uint32_t call, std::uint32_t number) {
  std::string text = "call " + std::to_string(call) + " line " + std::to_string(number) + " ";
  text += number % 2 == 0 ? "true" : "false";
  text += "! " + std::to_string(-std::int64_t{number} * 1'000'000'007) + " 0.5";
  if (is_long_line(number)) text += std::string(" ") + long_text + long_text;
  return text;
}

void oracle::settle(std::uint32_t call) {
  call_record& one = calls_[call];
  if (one.settled) running->fail(describe(call) + " settles twice");
  one.settled = true;
  running->note(0x200000000U + call);
  running->note_progress();
}

void oracle::settle(std::uint32_t call, std::int64_t value, std::int64_t expected) {
  settle(call);
  if (calls_[call].runs == 0) running->fail(describe(call) + " has a result, and has not run");
  if (value != expected) {
    running->fail(describe(call) + " gives " + std::to_string(value) + " instead of " + std::to_string(expected));
  }
}

void oracle::settle_ended(std::uint32_t call) {
  settle(call);
  if (!calls_[call].ended) running->fail(describe(call) + " is answered before its function has ended");
}

void oracle::fail(std::uint32_t call, call_outcome outcome, const std::string& why) {
  settle(call);
  ++failed_;
  call_record& one = calls_[call];
  if (outcome == call_outcome::not_run) {
    if (one.runs != 0) running->fail(describe(call) + " is said never to run, and has run: " + why);
    one.never_runs = true;
  }
  if (outcome == call_outcome::ran && one.runs == 0)
    running->fail(describe(call) + " is said to have run, and has not: " + why);
}

void oracle::expect_lost(std::uint32_t call, const std::string& why) const {
  const call_record& one = calls_[call];
  const bool is_by_number = !one.is_of_process && one.target != on_any_node && numbers.knows(one.target);
  if (!(is_by_number ? numbers.may_fail(one.target, one.epoch) : numbers.may_be_lost(one.target)))
    running->fail("node " + std::to_string(one.target) + " is lost without a reason: " + why);
  if (!is_by_number) return;
  if (why.find("is given up: ") != std::string::npos) numbers.expect_limit_reached(one.target);
  if (one.repeats && !numbers.may_fail_repeated(one.target, one.epoch, one.max_runs - 1))
    running->fail(describe(call) + " is not repeated as often as it may be: " + why);
}

void oracle::forbid(std::uint32_t call) {
  if (calls_[call].runs != 0) running->fail(describe(call) + " runs before it is made");
  calls_[call].never_runs = true;
}

void oracle::ask_to_stop(std::uint32_t call) {
  if (calls_[call].stop_asked_ns < 0) calls_[call].stop_asked_ns = running->now_ns();
}

bool oracle::goes_on_polling(std::uint32_t call, std::int64_t since_ns) {
  constexpr std::int64_t unasked_ns = 100'000'000;
  constexpr std::int64_t asked_ns = 3'000'000'000;  // on its way behind whatever is before it
  call_record& one = calls_[call];
  const std::int64_t now = running->now_ns();
  if (one.stop_asked_ns < 0) return now - since_ns < unasked_ns;
  one.saw_no_stop = now - std::max(since_ns, one.stop_asked_ns) > asked_ns;
  return !one.saw_no_stop;
}

void oracle::expect_stops_seen(std::uint64_t first, const std::set<node_t>& lost, bool any_lost) const {
  for (std::uint64_t call = first; call < calls_.size(); ++call) {
    const call_record& one = calls_[call];
    if (one.saw_no_stop && !lost.contains(one.target) && !numbers.may_be_lost(one.target) &&
        !(one.made_by_another && any_lost))
      running->fail(describe(static_cast<std::uint32_t>(call)) + " was stopped, and polls in vain");
  }
}

void oracle::expect_unanswered_ran(std::uint64_t first, node_t node) const {
  for (std::uint64_t call = first; call < calls_.size(); ++call) {
    const call_record& one = calls_[call];
    if (one.unanswered && one.target == node && one.runs == 0)
      running->fail(describe(static_cast<std::uint32_t>(call)) + " was sent, and has not run");
  }
}

void oracle::print_unanswered() const {
  constexpr int max_lines = 20;
  int lines = 0;
  for (std::uint32_t call = 0; call < calls_.size() && lines < max_lines; ++call) {
    if (calls_[call].settled) continue;
    std::fprintf(stderr, "  %s has %s\n", describe(call).c_str(),
                 calls_[call].runs == 0 ? "not begun" : "begun, and not settled");
    ++lines;
  }
}

void oracle::expect_all_ran(std::uint32_t stream) {
  for (std::uint32_t call = 0; call < calls_.size(); ++call) {
    const call_record& one = calls_[call];
    if (one.stream != stream || one.runs != 0 || one.settled || one.may_be_late) continue;
    // With a process that has died: the answer is that of the next one.
    if (numbers.knows(one.target) && numbers.may_fail(one.target, one.epoch)) continue;
    running->fail(describe(call) + " has not run");
  }
}

}  // namespace ham::sim
