#include "soak/worker.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/clock.hpp"
#include "soak/plants.hpp"

namespace soak {

std::atomic<std::size_t> leaked_bytes{0};

bool worker::choose(const std::string& names) {
  if (names.empty()) return true;
  std::size_t count = 0;
  const verb_entry* const all = verbs(count);
  for (std::size_t i = 0; i < count; ++i)
    if (("+" + names + "+").find("+" + std::string(all[i].name) + "+") != std::string::npos) chosen_.push_back(i);
  return chosen_.size() == static_cast<std::size_t>(1 + std::count(names.begin(), names.end(), '+'));
}

void worker::expect(stamp call, runs how_often) {
  if (call.serial == 0) return;
  ledger_.expect(call, how_often);
  if (planted(plant::late_run) && how_often == runs::never) record(call);
}

void worker::run(const std::atomic<bool>& pause) {
  while (!over.load() && !pause.load()) do_one();
  verb_.store(nullptr);
}

void worker::do_one() {
  std::size_t count = 0;
  const verb_entry* const all = verbs(count);
  const std::size_t which = chosen_.empty() ? below(count) : chosen_[below(chosen_.size())];
  node_.store(-1);
  since_ns_.store(base::now_ns());
  verb_.store(all[which].name);
  if (leaked_bytes.load() != 0) static_cast<volatile char*>(std::malloc(leaked_bytes.load()))[0] = 1;
  try {
    all[which].run(*this);
    done_[which].fetch_add(1, std::memory_order_relaxed);
  } catch (const node_failure& why) {  // before anything was sent, or of a handle
    if (!seats_.given_up(why.node())) report(std::string(all[which].name) + ": " + why.what());
  } catch (const std::exception& why) {
    report(std::string(all[which].name) + ", node " + std::to_string(node_.load()) + ": " + why.what());
  }
}

void worker::lost(stamp made, node_t node, const node_failure& why) {
  if (!seats_.given_up(why.node())) report(std::string("of a node that was left alone: ") + why.what());
  // Of a call that the function has made itself, the error says nothing of this one.
  const bool of_this_call = why.node() == node;
  if (of_this_call && why.outcome() == call_outcome::not_run) expect(made, runs::never);
  if (of_this_call && why.outcome() == call_outcome::ran) expect(made, runs::once);
}

void worker::wrong(node_t node, const std::string& what) {
  if (!seats_.given_up(node))
    report(std::string(verb_.load()) + ", node " + std::to_string(node) + ", worker " + std::to_string(number_) + ": " +
           what);
}

std::string worker::verbs_as_json() const {
  std::size_t count = 0;
  const verb_entry* const all = verbs(count);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (!chosen_.empty() && std::find(chosen_.begin(), chosen_.end(), i) == chosen_.end()) continue;
    if (!text.empty()) text += ",";
    text += quoted(all[i].name) + ":" + std::to_string(done_[i].load());
  }
  return text;
}

}  // namespace soak
