// Starting and ending what belongs to one node.
#include "job/own_targets.hpp"

#include <exception>
#include <utility>

#include "job/node_list.hpp"

namespace ham::inline v1::detail {

void own_targets::attach(engine& node, node_directory& directory) {
  node_ = &node;
  targets_ = std::make_unique<started_targets>(node, std::move(how_));
  directory.end_targets_by([this](node_t one, std::chrono::milliseconds timeout) { end_one(one, timeout); });
}

void own_targets::start(const fresh_targets& own, std::size_t nodes, bool relays) {
  if (own.empty()) return;
  own_ = own;
  try {
    if (relays) node_->standby.start();
    targets_->start(own, static_cast<std::uint32_t>(nodes));
  } catch (const std::exception& problem) {  // as if they had been lost
    for (const fresh_target& one : own) {
      node_->events.report_lost(one.node, problem);
      end_one(one.node, std::chrono::milliseconds(0));
    }
  }
}

namespace {

/// Starts nothing that only the host names.
transport::target_group own_group(const std::string& text, std::uint32_t count) {
  std::vector<transport::target_group> groups = parse_nodes(text);
  const bool allowed = groups.size() == 1 && groups.front().by->as_starting() != nullptr &&
                       groups.front().program.command.empty() && groups.front().count == count;
  if (!allowed) throw config_error("the group \"" + text + "\" is none that a waiting program starts for a host");
  return std::move(groups.front());
}

}  // namespace

void own_targets::start(const start_request& request) {
  const auto& [kind, nodes, wishes] = request;
  fresh_targets all;
  groups_.reserve(wishes.size());  // they stay where they are
  for (const auto& [first, count, text] : wishes) {
    const auto end = first + static_cast<node_t>(count);
    try {
      groups_.push_back(own_group(text, count));
      for (node_t one = first; one < end; ++one) all.push_back({one, &groups_.back(), node_->self()});
    } catch (const std::exception& problem) {
      for (node_t one = first; one < end; ++one) node_->events.report_lost(one, problem);
    }
  }
  start(all, nodes, true);
}

void own_targets::end() {
  constexpr std::chrono::milliseconds grace{500};
  for (const fresh_target& one : own_) end_one(one.node, grace);
  targets_.reset();
}

}  // namespace ham::detail
