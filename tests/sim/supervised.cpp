// Numbers, epochs and deaths.
#include "sim/supervised.hpp"

#include <algorithm>
#include <string>

#include "sim/scheduler.hpp"
#include "sim/world.hpp"

namespace ham::inline v1::sim {

int supervised_numbers::place_of(node_t node) {
  const int process = running->current().node;
  return process - process % world::processes_of_job + node;
}

void supervised_numbers::supervise(node_t number, std::size_t max_restarts) {
  number_record& one = numbers_[place_of(number)];
  one.min_restarts = std::min(one.min_restarts, max_restarts);
}

void supervised_numbers::release(node_t number) {
  const auto found = numbers_.find(place_of(number));
  if (found != numbers_.end()) found->second.removed = true;
}

bool supervised_numbers::knows(node_t number) const { return numbers_.contains(place_of(number)); }

bool supervised_numbers::supervises(node_t number) const {
  const auto found = numbers_.find(place_of(number));
  return found != numbers_.end() && !found->second.removed && !ended_jobs_.contains(place_of(0));
}

void supervised_numbers::begin_respawn(node_t number, node_t process, std::uint64_t epoch) {
  const auto found = numbers_.find(place_of(number));
  const std::string who = "process " + std::to_string(process) + " of node " + std::to_string(number);
  if (found == numbers_.end()) running->fail(who + " is started, and the number is not supervised");
  if (epoch != found->second.epoch + 1)
    running->fail(who + " has epoch " + std::to_string(epoch) + " behind " + std::to_string(found->second.epoch));
  if (process == number || processes_.contains(place_of(process))) running->fail(who + " is started twice");
  found->second.epoch = epoch;
  processes_[place_of(process)] = {place_of(number), epoch, false};
}

void supervised_numbers::end_respawn(node_t process) { processes_[place_of(process)].prepared = true; }

node_t supervised_numbers::number_of(node_t process) const {
  const auto found = processes_.find(place_of(process));
  return found == processes_.end() ? process : found->second.number % world::processes_of_job;
}

bool supervised_numbers::is_prepared(node_t process) const {
  const auto found = processes_.find(place_of(process));
  return found == processes_.end() || found->second.prepared;
}

std::uint64_t supervised_numbers::epoch_of(node_t number) const {
  const auto found = numbers_.find(place_of(number));
  return found == numbers_.end() ? 0 : found->second.epoch;
}

std::size_t supervised_numbers::prepared(node_t number) const {
  return static_cast<std::size_t>(std::ranges::count_if(processes_, [place = place_of(number)](const auto& one) {
    return one.second.number == place && one.second.prepared;
  }));
}

std::size_t supervised_numbers::prepared_to_stay(node_t number) const {
  return static_cast<std::size_t>(std::ranges::count_if(processes_, [&, place = place_of(number)](const auto& one) {
    return one.second.number == place && one.second.prepared && !doomed_.contains(one.first);
  }));
}

bool supervised_numbers::is_replaced(node_t process) const {
  const int number = place_of(number_of(process));
  const auto own = processes_.find(place_of(process));
  const std::uint64_t epoch = own == processes_.end() ? 0 : own->second.epoch;
  return std::ranges::any_of(processes_, [&](const auto& one) {
    return one.second.number == number && one.second.prepared && one.second.epoch > epoch;
  });
}

void supervised_numbers::doom(node_t process) { doomed_.insert(place_of(process)); }

bool supervised_numbers::is_doomed(node_t process) const { return doomed_.contains(place_of(process)); }

std::size_t supervised_numbers::doomed_alive(node_t number) const {
  const int place = place_of(number);
  return static_cast<std::size_t>(std::ranges::count_if(doomed_, [&](int process) {
    const auto found = processes_.find(process);
    const bool is_its = found == processes_.end() ? process == place : found->second.number == place;
    return is_its && running->living_threads(process) != 0;
  }));
}

void supervised_numbers::end_job() { ended_jobs_.insert(place_of(0)); }

bool supervised_numbers::may_be_lost(node_t node) const {
  if (ended_jobs_.contains(place_of(0))) return true;
  const auto of_number = numbers_.find(place_of(number_of(node)));
  return is_doomed(node) || (of_number != numbers_.end() && of_number->second.removed);
}

/// Of processes that have had the number from that epoch on.
std::size_t supervised_numbers::deaths(int number, std::uint64_t since) const {
  const auto counts = [&](int process) {
    const auto found = processes_.find(process);
    if (found == processes_.end()) return process == number && since == 0;
    return found->second.number == number && found->second.epoch >= since;
  };
  return static_cast<std::size_t>(std::ranges::count_if(doomed_, counts));
}

bool supervised_numbers::may_fail(node_t number, std::uint64_t epoch) const {
  const auto found = numbers_.find(place_of(number));
  if (found == numbers_.end()) return is_doomed(number);
  return found->second.removed || deaths(found->first, epoch) != 0;
}

bool supervised_numbers::may_fail_repeated(node_t number, std::uint64_t epoch, std::size_t times) const {
  const auto found = numbers_.find(place_of(number));
  if (found == numbers_.end()) return true;
  return found->second.removed || deaths(found->first, epoch) > times || may_be_given_up(found->first);
}

/// Processes may have died before it was known which number they were for.
bool supervised_numbers::may_be_given_up(int number) const {
  const auto is_nobodys = [&](int process) { return !processes_.contains(process) && !numbers_.contains(process); };
  const auto others = static_cast<std::size_t>(std::ranges::count_if(doomed_, is_nobodys));
  return deaths(number, 0) + others > numbers_.at(number).min_restarts;
}

void supervised_numbers::expect_limit_reached(node_t number) const {
  const auto found = numbers_.find(place_of(number));
  if (found == numbers_.end() || !may_be_given_up(found->first))
    running->fail("node " + std::to_string(number) + " is given up before its limit");
}

}  // namespace ham::sim
