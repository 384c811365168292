// What the transports to Vector Engines have in common before they are connected: NAME[:COUNT], one engine after the
// other; targets that VEO starts, and that are called through ham_main.
#pragma once

#include <utility>

#include "transport/common/veo_host.hpp"
#include "transport/common/veo_target.hpp"
#include "transport/starting.hpp"

namespace ham::inline v1::transport::veo {

class veo_factory : public starting_factory {
 public:
  [[nodiscard]] target_group parse(group_text& text) const final;
  /// Loads libveo. Whether an engine and the application for it are there is found out by starting a target.
  [[nodiscard]] availability probe() const final;
};

/// The application as a library for Vector Engines: HAM_VEO_APPLICATION, or beside this program under its name with
/// ".ve.so" behind it. Throws ham::config_error.
[[nodiscard]] std::string application_library();

/// Starts the members of a group on engines 0, 1, ...
class veo_host_side final : public host_side {
 public:
  explicit veo_host_side(veo_host& carrier) noexcept : carrier_(carrier) {}
  void start(const target_group& group, std::vector<start_plan> plans, job_size job) override;
  void end(node_t node, std::chrono::milliseconds timeout) override { carrier_.end(node, timeout); }

 private:
  veo_host& carrier_;
};

template <class Host>
[[nodiscard]] host_parts make_veo_host(node_t self, observer& to) {
  auto carrier = std::make_unique<Host>(self, to);
  auto side = std::make_unique<veo_host_side>(*carrier);
  return {std::move(carrier), std::move(side)};
}

/// What the host has left at `address`. Throws ham::config_error if it is of another release.
[[nodiscard]] welcome& welcome_at(std::uint64_t address);

template <class Target>
class veo_target_side final : public target_side {
 public:
  explicit veo_target_side(welcome& said) noexcept : said_(said) {}
  [[nodiscard]] node_t self() const noexcept override { return said_.node; }
  [[nodiscard]] node_t host() const noexcept override { return said_.host; }
  [[nodiscard]] std::size_t nodes() const noexcept override { return said_.nodes; }
  [[nodiscard]] std::uint64_t main_address() const noexcept override { return said_.main; }
  [[nodiscard]] std::unique_ptr<base::heap> take_memory() override {
    auto made = target_side::take_memory();
    said_.heap = made->address();
    return made;
  }
  [[nodiscard]] std::unique_ptr<transport> open(observer& to) override {
    auto made = std::make_unique<Target>(said_, to);
    carrier_ = made.get();
    return made;
  }
  void join() override { carrier_->join(); }

 private:
  welcome& said_;
  Target* carrier_ = nullptr;
};

}  // namespace ham::transport::veo
