// Announcements, introductions, and connections.
#include "job/node_directory.hpp"

#include <string.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "compose/transports.hpp"
#include "job/notices.hpp"
#include "runtime/options.hpp"

namespace ham::inline v1::detail {
namespace {

constexpr std::int64_t connect_timeout_ns = 10'000'000'000;  // for a connection that another node has to make
/// Of so many nodes that have gone it stays known how they were reached: calls to them are refused there at once.
constexpr std::size_t max_gone = peer_table::max_lost;

/// So many answers of one node may wait for room on their way to it: of threads that ask, which wait for theirs.
constexpr std::uint32_t max_unanswered = 1024;

/// Now and then, so that `all` stays as large as what is alive.
template <class All, class Lost>
void forget_lost_in(All& all, std::size_t& max_size, Lost lost) {
  if (all.size() < max_size) return;
  std::erase_if(all, lost);
  max_size = 2 * all.size() + 64;
}

/// Secrets in plain bytes, for as long as it must be.
class wiped_at_end {
 public:
  explicit wiped_at_end(std::span<std::byte> bytes) noexcept : bytes_(bytes) {}
  ~wiped_at_end() { ::explicit_bzero(bytes_.data(), bytes_.size()); }
  wiped_at_end(const wiped_at_end&) = delete;
  wiped_at_end& operator=(const wiped_at_end&) = delete;

 private:
  std::span<std::byte> bytes_;
};

}  // namespace

bool node_directory::knows_way(node_t peer) const {
  if (peer == 0 || peer == node_.ways.starter() || node_.self() == 0 || ranks_with(peer) != nullptr) return true;
  const peer_hold host = node_.peers.hold(0);
  const peer_state state = host ? host->state.load() : peer_state::unknown;
  if (!is_expected(state)) return true;  // nobody will tell
  // Who waits for others to connect has to be known to them.
  return std::max(peer, listens() ? node_.self() : 0) < complete_.load(std::memory_order_acquire);
}

std::int64_t node_directory::connect(node_t peer) {
  const node_t starter = node_.ways.starter();
  if (only_ != nullptr) {
    if (peer != starter) return connect_through_others(peer);
    only_->connect(peer);
    return base::never_ns;
  }
  if (transport::transport* const ranks = ranks_with(peer)) {
    ranks->connect(peer);
    return base::never_ns;
  }
  if (peer == 0 && starter != 0) return connect_through_others(peer);
  if (const auto address = address_of(peer)) {
    node_.locked([&] { network().reach(peer, *address); });
    return base::never_ns;
  }
  if (node_.self() == 0) {  // every node of the job is connected to the host from its start
    node_.events.on_lost(peer, "it has left the job");
    return base::never_ns;
  }
  if (peer != starter && is_apart(peer)) return connect_through_others(peer);
  if (local_ != nullptr) {
    local_->connect(peer);
    return base::never_ns;
  }
  if (peer == 0 || !node_.peers.is_ready(0)) {
    node_.events.on_lost(peer, "nothing is known of where it is");
    return base::never_ns;
  }
  send_notice(0, pack(meeting{kind_of(notice::meet), peer}));
  return base::now_ns() + connect_timeout_ns;
}

/// To the job at another node, if that is connected.
void node_directory::send_notice(node_t to, std::span<const std::byte> text) {
  const peer_hold who = node_.peers.hold(to);
  if (who && who->state.load() == peer_state::ready)
    node_.replies.reply_with(*who, frame_header::of(wire_kind::notice), text);
}

std::int64_t node_directory::connect_through_others(node_t peer) {
  const node_t hop = node_.ways.hop_to(peer);
  if (node_.peers.is_ready(hop))
    node_.connect_through_others(peer);
  else
    node_.events.on_lost(peer, "node " + std::to_string(hop) + " is not there, through which it is reached");
  return base::never_ns;
}

/// Whether this node and that one, which listens nowhere, have nothing in common but others that pass things on. That
/// one comes to the same.
bool node_directory::is_apart(node_t peer) const {
  const bool waits_for_others = listens();
  std::lock_guard guard(mutex_);
  const auto other = apart_.find(peer);
  if (waits_for_others) return other != apart_.end() && !other->second;
  if (!ranks_.empty() || !local_reaches_targets_ || other != apart_.end()) return true;
  const auto theirs = starters_.find(peer);
  if ((theirs == starters_.end() ? 0 : theirs->second) != node_.ways.starter()) return true;
  return std::any_of(other_ranks_.begin(), other_ranks_.end(),
                     [peer](const auto& range) { return peer >= range.first && peer < range.second; });
}

void node_directory::on_notice(node_t from, std::span<const std::byte> text) {
  switch (notice_in(text)) {
    case notice::announcement:
      if (from != 0) throw protocol_error("an announcement, which only the host makes");
      on_announcement(text);
      return;
    case notice::meet:
      if (only_ != nullptr) return;
      introduce(from, std::get<1>(unpack<meeting>(text)));
      return;
    case notice::end_target: {
      const auto [kind, node, timeout_ms] = unpack<ending>(text);
      if (from != 0 || !node_.ways.starts(node)) throw protocol_error("a request to end a target of others");
      end_own(node, std::chrono::milliseconds(std::clamp<std::int64_t>(timeout_ms, 0, INT32_MAX)));
      return;
    }
    case notice::start_targets:
      if (from != 0) throw protocol_error("a request to start targets, which only the host makes");
      on_start_request(text);
      return;
    case notice::question:
      if (node_.self() != 0) throw protocol_error("a question that only the host answers");
      answer(from, std::get<1>(unpack<question_number>(text)));
      return;
    case notice::numbers:
      if (from != 0) throw protocol_error("numbers of nodes, which only the host gives");
      on_numbers(text);
      return;
    case notice::heartbeat:
      if (node_.self() != 0) throw protocol_error("a heartbeat, which only the host takes");
      if (node_.owner != nullptr) node_.owner->on_heartbeat(from);
      return;
    case notice::answer:
      if (from != 0) throw protocol_error("an answer, which only the host gives");
      answered_.store(std::get<1>(unpack<question_number>(text)), std::memory_order_release);
      return;
    default: break;
  }
  throw protocol_error("a notice of unknown kind " + std::to_string(static_cast<int>(text.front())));
}

/// What was announced for a question before, and is still on its way, is not said again; and who goes on asking without
/// reading is not to fill this node's memory. The receiving lock is held.
void node_directory::answer(node_t from, std::uint32_t question) {
  const peer_hold who = node_.peers.hold(from);
  if (!who) return;
  forget_lost_in(askers_, max_askers_, [this](const auto& one) { return !node_.peers.is_ready(one.first); });
  asker& one = askers_[from];
  // Each of the answers that have not left is a message of its own.
  one.unanswered = std::min(one.unanswered, who->row->traffic.waiting.load(std::memory_order_relaxed));
  if (one.unanswered >= max_unanswered) throw protocol_error("questions without end, whose answers it does not read");
  const std::pair<std::size_t, std::uint64_t> state{node_.peers.size(), changes_.load(std::memory_order_acquire)};
  if (one.unanswered == 0 || one.announced != state) announce(from);
  one.announced = state;
  send_notice(from, pack(question_number{kind_of(notice::answer), question}));
  ++one.unanswered;
}

void node_directory::on_announcement(std::span<const std::byte> text) {
  auto [kind, nodes, complete, secure, force_insecure, key, listeners, apart, ranks, starters] =
      unpack<announcement>(text);
  const wiped_at_end plain(std::as_writable_bytes(std::span(key)));
  if (!has_compared() && has_ranks()) compare_starters(starters);
  compared_.store(true, std::memory_order_release);
  if (!node_.peers.grow_to(nodes)) throw protocol_error("an announcement of " + std::to_string(nodes) + " nodes");
  if (only_ == nullptr) {  // where others listen is not for a node that reaches only one
    std::lock_guard guard(mutex_);
    apart_ = {apart.begin(), apart.end()};
    if (ranks_.empty()) other_ranks_ = std::move(ranks);
    starters_ = {starters.begin(), starters.end()};
    how_.secure = secure;
    how_.force_insecure = force_insecure;
    for (std::size_t i = 0; i < key.size(); ++i) how_.job_key[i] = std::byte{key[i]};
    learn_addresses(listeners);
  }
  complete_.store(complete, std::memory_order_release);
  base::log("job", base::log_level::debug, "the host announces %u nodes", nodes);
}

/// mutex_ is held.
void node_directory::learn_addresses(const std::vector<std::pair<node_t, std::string>>& announced) {
  std::map<node_t, std::string> all(announced.begin(), announced.end());
  std::size_t gone = 0;
  for (auto former = addresses_.rbegin(); former != addresses_.rend() && gone < max_gone; ++former)
    gone += all.insert(*former).second ? 1 : 0;
  all.erase(node_.self());
  addresses_.swap(all);
}

void node_directory::on_numbers(std::span<const std::byte> text) {
  const auto [kind, all] = unpack<supervised_numbers>(text);
  const auto exists = [this](node_t node) { return node > 0 && static_cast<std::size_t>(node) < node_.peers.size(); };
  for (const auto& [number, process, now] : all) {
    if (!exists(number) || !exists(process) || now > static_cast<std::uint8_t>(replacements::phase::given_up))
      throw protocol_error("a process " + std::to_string(process) + " for the number " + std::to_string(number) +
                           ", which cannot be");
  }
  node_.numbers.take_over(all);
}

void node_directory::announce_numbers() {
  node_.locked([&] {
    const std::vector<std::byte> text = pack(supervised_numbers{kind_of(notice::numbers), node_.numbers.all()});
    for (const node_t one : node_.peers.ready_nodes(node_.self())) send_notice(one, text);
  });
}

std::uint32_t node_directory::ask_for_nodes() {
  if (node_.self() == 0 || !node_.peers.is_ready(0)) return 0;
  const std::uint32_t number = asked_.fetch_add(1, std::memory_order_relaxed) + 1;
  send_notice(0, pack(question_number{kind_of(notice::question), number}));
  return number;
}

void node_directory::end_target(node_t node, std::chrono::milliseconds timeout) {
  const node_t starter = node_.ways.hop_to(node);
  if (starter != node) send_notice(starter, pack(ending{kind_of(notice::end_target), node, timeout.count()}));
}

void node_directory::start_behind(node_t starter, const fresh_targets& fresh) {
  start_request text{kind_of(notice::start_targets), static_cast<std::uint32_t>(node_.peers.size()), {}};
  auto& groups = std::get<2>(text);
  const transport::target_group* last = nullptr;
  for (const fresh_target& one : targets_of(fresh, starter)) {
    if (std::exchange(last, one.group) != one.group) groups.emplace_back(one.node, 0, one.group->text);
    ++std::get<1>(groups.back());
  }
  if (groups.empty()) return;
  const std::vector<std::byte> packed = pack(text);
  node_.locked([&] { send_notice(starter, packed); });
}

/// The receiving lock is held.
void node_directory::on_start_request(std::span<const std::byte> text) {
  auto request = unpack<start_request>(text);
  if (!std::exchange(may_start_, false))
    throw protocol_error("a request to start targets, which this node does not take");
  const auto& [kind, nodes, groups] = request;
  if (!node_.peers.grow_to(nodes)) throw protocol_error("a request to start too many targets");
  for (const auto& [first, count, group] : groups) {
    if (first <= 0 || count > transport::max_targets || static_cast<std::uint64_t>(first) + count > nodes)
      throw protocol_error("a request to start targets with numbers that no node has");
    for (node_t one = first; one < first + static_cast<node_t>(count); ++one) {
      if (one == node_.self() || !node_.peers.expect(one))
        throw protocol_error("a request to start a target with the number of another node");
      node_.ways.add(one, node_.self());
    }
  }
  {
    std::lock_guard guard(mutex_);
    start_request_ = std::move(request);
  }
  node_.interrupt_service();
}

std::optional<start_request> node_directory::take_start_request() {
  std::lock_guard guard(mutex_);
  return std::exchange(start_request_, std::nullopt);
}

/// Ranks count on having read the same.
void node_directory::compare_starters(const std::vector<std::pair<node_t, node_t>>& announced) const {
  const auto differs = [this](const auto& one) { return (one.second == node_.self()) != node_.ways.starts(one.first); };
  const auto own = std::ranges::count_if(announced, [this](const auto& one) { return one.second == node_.self(); });
  if (std::ranges::any_of(announced, differs) || static_cast<std::size_t>(own) != node_.ways.started())
    throw protocol_error(
        "other targets for this rank than its own HAM_NODES; give all ranks the same (Open MPI on several machines: "
        "mpirun -x HAM_NODES)");
}

/// The receiving lock is held. It is left first: whoever ends it may take its memory away.
void node_directory::end_own(node_t node, std::chrono::milliseconds timeout) {
  if (!node_.peers.has(node)) return;
  peer& target = node_.peers[node];
  if (target.state.load() == peer_state::ready)
    node_.replies.reply_with(target, frame_header::of(wire_kind::goodbye), {});
  node_.all_connections.lose(target, "it was removed from the job", peer_end::left);
  if (end_own_) end_own_(node, timeout);
}

/// The receiving lock is held.
void node_directory::introduce(node_t from, node_t who) {
  if (node_.self() == 0) {  // passed on
    if (!node_.peers.is_ready(who) || who == from || who == 0) return;
    forget_lost_in(meetings_, max_meetings_, [this](const auto& one) {
      return !node_.peers.is_ready(one.first) || !node_.peers.is_ready(one.second);
    });
    if (!meetings_.emplace(from, who).second) return;  // a node asks once
    send_notice(who, pack(meeting{kind_of(notice::meet), from}));
    return;
  }
  if (from != 0) throw protocol_error("a request to meet, which only the host passes on");
  const auto address = address_of(who);
  if (!address || !node_.peers.expect(who)) return;
  try {
    network().reach(who, *address);
  } catch (const std::exception& problem) {  // it is not the host's fault
    node_.events.report_lost(who, problem);
  }
}

void node_directory::begin_additions(node_t first) {
  std::lock_guard guard(mutex_);
  first_addition_ = first;
  ++changes_;
}

/// At once, so that nobody who has heard of it makes the host send a word to a node that has not.
void node_directory::announce_to_all() {
  begin_additions(no_additions);
  node_.locked([&] { announce_to(node_.peers.ready_nodes(node_.self())); });
}

/// As early as can be: a function that is called there may call others.
void node_directory::on_welcome(node_t peer) {
  if (node_.self() != 0) return;
  announce(peer);
  if (node_.numbers.any()) send_notice(peer, pack(supervised_numbers{kind_of(notice::numbers), node_.numbers.all()}));
}

void node_directory::announce(node_t to) { announce_to({&to, 1}); }

void node_directory::announce_to(std::span<const node_t> nodes) {
  announcement text;
  auto& key = std::get<5>(text);
  const wiped_at_end plain(std::as_writable_bytes(std::span(key)));
  {
    std::lock_guard guard(mutex_);
    forget_lost();
    text = {kind_of(notice::announcement),
            static_cast<std::uint32_t>(node_.peers.size()),
            std::min(first_addition_, static_cast<node_t>(node_.peers.size())),
            how_.secure,
            how_.force_insecure,
            {},
            {addresses_.begin(), addresses_.end()},
            {apart_.begin(), apart_.end()},
            {},
            {starters_.begin(), starters_.end()}};
    for (const rank_range& one : ranks_) std::get<8>(text).emplace_back(one.first, one.end);
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = std::to_integer<std::uint8_t>(how_.job_key[i]);
  }
  std::vector<std::byte> packed = pack(text);
  const wiped_at_end packed_too{packed};
  for (const node_t one : nodes) send_notice(one, packed);
}

transport::network& node_directory::network() {
  if (network_ != nullptr) return *network_;
  transport::network_options options;
  options.self = node_.self();
  {
    std::lock_guard guard(mutex_);
    options.bind = how_.bind;
    options.job_key = how_.job_key;
    options.secure = how_.secure;
    options.force_insecure = how_.force_insecure;
    options.timeout = how_.timeout;
    options.records = records_of_tls();
  }
  auto made = network_transport().module().open(options, node_.memory.reachable(), node_.events);
  network_ = made.get();
  node_.adopt(std::move(made));
  return *network_;
}

void node_directory::set_address(node_t node, const std::string& address) {
  std::lock_guard guard(mutex_);
  addresses_[node] = address;
  ++changes_;
}

void node_directory::set_company(node_t node, transport::company reaches, node_t starter) {
  std::lock_guard guard(mutex_);
  ++changes_;
  if (starter != 0) starters_[node] = starter;
  if (reaches != transport::company::targets) apart_.emplace(node, reaches == transport::company::networks);
}

void node_directory::forget(node_t node) {
  std::lock_guard guard(mutex_);
  ++changes_;
  addresses_.erase(node);
  apart_.erase(node);
  starters_.erase(node);
}

/// But for some; ranks compare `starters_` with their own. mutex_ is held.
void node_directory::forget_lost() {
  const auto forget_in = [this](auto& all) {
    std::size_t gone = 0;
    for (auto at = all.end(); at != all.begin();) {
      --at;
      const peer_hold who = node_.peers.hold(at->first);
      const bool lost = !who || who->state.load(std::memory_order_relaxed) == peer_state::lost;
      if (lost && ++gone > max_gone) at = all.erase(at);
    }
  };
  forget_in(addresses_);
  forget_in(apart_);
}

void node_directory::use_ranks(transport::transport& ranks, node_t first, node_t end) {
  std::lock_guard guard(mutex_);
  ranks_.push_back({&ranks, first, end});
  ++changes_;
}

bool node_directory::has_ranks() const {
  std::lock_guard guard(mutex_);
  return !ranks_.empty();
}

transport::transport* node_directory::ranks_with(node_t node) const {
  std::lock_guard guard(mutex_);
  for (const rank_range& one : ranks_) {
    if ((node == 0 && node_.self() != 0) || (node >= one.first && node < one.end)) return one.by;
  }
  return nullptr;
}

std::optional<std::string> node_directory::address_of(node_t node) const {
  std::lock_guard guard(mutex_);
  const auto found = addresses_.find(node);
  if (found == addresses_.end()) return std::nullopt;
  return found->second;
}

}  // namespace ham::detail
