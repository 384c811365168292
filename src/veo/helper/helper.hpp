// The helper: executes the requests of a host.
#pragma once

#include "../requests.hpp"
#include "symbols.hpp"

namespace ham::inline v1::veo {

class helper final : public helper_side {
 public:
  answer call(unseen_count unseen, std::uint64_t kernel, std::span<const std::byte> arguments) override;
  answer allocate(unseen_count unseen, std::uint64_t bytes) override;
  answer release(unseen_count unseen, std::uint64_t address) override;
  answer store(unseen_count unseen, std::uint64_t address, std::span<const std::byte> bytes) override;
  answer load(unseen_count unseen, std::uint64_t address, std::uint64_t bytes) override;
  answer copy(unseen_count unseen, std::uint64_t to, std::uint64_t from, std::uint64_t bytes) override;
  answer load_library(unseen_count unseen, std::string_view path) override;
  answer unload_library(unseen_count unseen, std::uint64_t library) override;
  answer symbol(unseen_count unseen, std::uint64_t library, std::string_view name) override;
  answer area(unseen_count unseen, std::uint64_t old, std::uint64_t bytes) override;
  answer probe() override;
  answer begin_context(std::uint32_t number) override;
  answer end_context() override;

 private:
  libraries libraries_;
};

}  // namespace ham::veo
