// mpi joins the conformance suite: a program for mpirun, whose rank 0 runs the suite with the last rank as peer.
#include <gtest/gtest.h>

#include <cstdlib>

#include "conformance/subject.hpp"
#include "transport/mpi/factory_module.hpp"
#include "transport/process_group.hpp"

namespace ham::inline v1::transport::conformance {
namespace {

/// What rank 0 says first to each rank of a new group.
enum class beginning : std::uint32_t { obey = 1, end };

std::unique_ptr<process_group> all_ranks() { return ham::transport::mpi::load_group_module().join(nullptr); }

class mpi_subject final : public subject {
 public:
  explicit mpi_subject(beginning word = beginning::obey)
      : memory_(base::heap::make_file()), group_(all_ranks()), last_(static_cast<node_t>(group_->size()) - 1) {
    here_ = group_->open(&memory_, news_);
    for (node_t node = 1; node <= last_; ++node) {
      here_->connect(node);
      endpoint& to = *news_.connected(node);
      const bytes text = pack(word);
      std::memcpy(to.reserve(text.size()), text.data(), text.size());
      to.commit({0, 0, plain_kind});
    }
  }
  [[nodiscard]] transport& here() override { return *here_; }
  [[nodiscard]] node_t peer() override { return last_; }
  [[nodiscard]] recorder& news() override { return news_; }

 private:
  base::heap memory_;
  std::unique_ptr<process_group> group_;
  node_t last_;
  recorder news_;
  std::unique_ptr<transport> here_;
};

const join mpi_joins("mpi", []() -> std::unique_ptr<subject> { return std::make_unique<mpi_subject>(); });

beginning first_word(transport& at) {
  frame arrived;
  endpoint* from = nullptr;
  while ((from = at.poll(arrived, 1)) == nullptr) sleep_on(at, std::chrono::milliseconds(20));
  const auto word = conformance::word<beginning>(arrived.payload);
  from->release();
  return word;
}

/// The other ranks: a peer in each of the suite's groups.
void follow() {
  for (;;) {
    const auto group = all_ranks();
    base::heap memory(base::heap::make_file());
    recorder news;
    const auto at = group->open(&memory, news);
    if (first_word(*at) == beginning::end) return;
    obey(*at, memory, [&] { return !news.lost(0).empty(); });
  }
}

bool is_host() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* const rank = std::getenv(name)) return std::atoi(rank) == 0;
  }
  return true;
}

int run(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int failed = 0;
  if (is_host()) {
    failed = RUN_ALL_TESTS();
    mpi_subject(beginning::end).here().shutdown();
  } else {
    follow();
  }
  ham::transport::mpi::finish_group_module(nullptr);
  return failed;
}

}  // namespace
}  // namespace ham::transport::conformance

int main(int argc, char** argv) { return ham::transport::conformance::run(argc, argv); }
