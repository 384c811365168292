// The host's put and get in a Vector Engine's memory: checked by the table there, then one transfer.
#include "transport/common/veo_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace ham::inline v1::transport::veo {
namespace {

/// The engine's memory is this process's.
struct played_process {
  int transfers = 0;
  int failure = 0;
};
played_process* played(veo_proc_handle* process) { return reinterpret_cast<played_process*>(process); }

libveo library_of_this_process() {
  libveo made{};
  made.read_mem = [](veo_proc_handle* process, void* to, std::uint64_t from, std::size_t size) {
    ++played(process)->transfers;
    if (played(process)->failure == 0) std::memcpy(to, reinterpret_cast<const void*>(from), size);
    return played(process)->failure;
  };
  made.write_mem = [](veo_proc_handle* process, std::uint64_t to, const void* from, std::size_t size) {
    ++played(process)->transfers;
    if (played(process)->failure == 0) std::memcpy(reinterpret_cast<void*>(to), from, size);
    return played(process)->failure;
  };
  return made;
}

class veo_memory : public testing::Test {
 protected:
  veo_memory() {
    welcome_.heap = heap_.address();
    std::memset(allocated_.address, 0, size);
  }
  static constexpr std::size_t size = 1000;

  played_process process_;
  const libveo library_ = library_of_this_process();
  base::heap heap_{base::heap::make_file()};
  const base::heap::allocation allocated_ = heap_.allocate(size);
  const std::uint64_t address_ = reinterpret_cast<std::uintptr_t>(allocated_.address);
  welcome welcome_;
  std::shared_ptr<reachability> reach_ = std::make_shared<reachability>();
  target_memory there_{library_, reinterpret_cast<veo_proc_handle*>(&process_),
                       reinterpret_cast<std::uintptr_t>(&welcome_), reach_};
  std::vector<std::byte> bytes_ = std::vector<std::byte>(size, std::byte{7});
};

TEST_F(veo_memory, bytes_go_there_and_back_from_place_to_place) {
  EXPECT_EQ(there_.put(address_ + 8, allocated_.tag, bytes_.data(), size - 8), access_result::done);
  EXPECT_EQ(static_cast<const std::byte*>(allocated_.address)[7], std::byte{0});
  EXPECT_EQ(static_cast<const std::byte*>(allocated_.address)[8], std::byte{7});
  const int before = process_.transfers;
  std::vector<std::byte> got(size);
  EXPECT_EQ(there_.get(address_, allocated_.tag, got.data(), size), access_result::done);
  EXPECT_EQ(process_.transfers - before, 2) << "a look at the table, and the bytes";
  EXPECT_EQ(got[7], std::byte{0});
  EXPECT_EQ(got[size - 1], std::byte{7});
}

TEST_F(veo_memory, nothing_moves_outside_of_an_allocation) {
  EXPECT_EQ(there_.put(address_ + 1, allocated_.tag, bytes_.data(), size), access_result::out_of_range);
  EXPECT_EQ(there_.put(address_ - 1, allocated_.tag, bytes_.data(), 1), access_result::out_of_range);
  EXPECT_EQ(there_.get(address_ + size, allocated_.tag, bytes_.data(), 1), access_result::out_of_range);
  EXPECT_EQ(there_.put(address_ + size, allocated_.tag, bytes_.data(), 0), access_result::done) << "none, at its end";
  EXPECT_EQ(there_.put(UINT64_MAX, allocated_.tag, bytes_.data(), 2), access_result::out_of_range);
  EXPECT_EQ(there_.put(address_, 0, bytes_.data(), 1), access_result::stale);
  EXPECT_EQ(there_.put(address_, allocated_.tag + (1U << base::heap_index_bits), bytes_.data(), 1),
            access_result::stale);
  EXPECT_TRUE(heap_.free(address_, allocated_.tag));
  EXPECT_EQ(there_.put(address_, allocated_.tag, bytes_.data(), 1), access_result::stale);
  EXPECT_EQ(static_cast<const std::byte*>(allocated_.address)[0], std::byte{0});
}

TEST_F(veo_memory, is_lost_with_its_process) {
  process_.failure = -1;
  EXPECT_EQ(there_.put(address_, allocated_.tag, bytes_.data(), 1), access_result::lost);
  process_.failure = 0;
  EXPECT_EQ(there_.get(address_, allocated_.tag, bytes_.data(), 1), access_result::lost) << "from then on";
  EXPECT_TRUE(reach_->lost());
}

}  // namespace
}  // namespace ham::transport::veo
