// The memory of a rank on another machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "transport/mpi/bulk.hpp"

namespace ham::inline v1::transport::mpi {

class distant_access final : public started_access {
 public:
  distant_access(bulk& by, std::shared_ptr<bulk_access> what) : bulk_(by), what_(std::move(what)) {}
  ~distant_access() override { what_->give_up(); }
  [[nodiscard]] bool test(access_result& how) noexcept override {
    if (!what_->over()) bulk_.serve();
    if (!what_->over()) return false;
    how = what_->result();
    return true;
  }

 private:
  bulk& bulk_;
  const std::shared_ptr<bulk_access> what_;
};

class distant_memory final : public remote_memory {
 public:
  /// `lost`: says that the rank is gone. All three outlive it.
  distant_memory(bulk& by, int rank, const std::atomic<bool>& lost) : bulk_(by), rank_(rank), lost_(lost) {}

  access_result put(std::uint64_t address, std::uint64_t tag, const std::byte* from, std::size_t size) override {
    return bulk_.transfer(bulk_verb::put, at(address, tag), {const_cast<std::byte*>(from), size});
  }
  access_result get(std::uint64_t address, std::uint64_t tag, std::byte* to, std::size_t size) override {
    return bulk_.transfer(bulk_verb::get, at(address, tag), {to, size});
  }
  [[nodiscard]] background_access background() const noexcept override { return background_access::started; }
  [[nodiscard]] bool open_to_me() const noexcept override { return bulk_.calls().open_to_me(); }
  [[nodiscard]] bool open_to_all() const noexcept override { return !bulk_.calls().funneled(); }
  [[nodiscard]] bool waits_for_peer() const noexcept override { return true; }
  [[nodiscard]] std::unique_ptr<started_access> start_put(std::uint64_t address, std::uint64_t tag,
                                                          const std::byte* from, std::size_t size) override {
    return start(bulk_verb::put, address, tag, {const_cast<std::byte*>(from), size});
  }
  [[nodiscard]] std::unique_ptr<started_access> start_get(std::uint64_t address, std::uint64_t tag, std::byte* to,
                                                          std::size_t size) override {
    return start(bulk_verb::get, address, tag, {to, size});
  }

 private:
  [[nodiscard]] bulk_access::target at(std::uint64_t address, std::uint64_t tag) const noexcept {
    return {rank_, address, tag, &lost_};
  }
  std::unique_ptr<started_access> start(bulk_verb verb, std::uint64_t address, std::uint64_t tag,
                                        std::span<std::byte> local) {
    return std::make_unique<distant_access>(bulk_, bulk_.start(verb, at(address, tag), local));
  }

  bulk& bulk_;
  const int rank_;
  const std::atomic<bool>& lost_;
};

}  // namespace ham::transport::mpi
