// MPI: rank 0 is the client, rank 1 the server; MPI_Send and MPI_Recv, with MPI_Irecv for the answers under way.
#include <mpi.h>

#include <cstring>

#include "common/program.hpp"

namespace {

using namespace ham::peers;

constexpr int request_tag = 1;
constexpr int block_tag = 2;
constexpr int answer_tag = 3;

void must(int result, const char* what) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw std::runtime_error(std::string(what) + ": " + text);
}

/// A short argument is in the message, a long one is the next.
struct request {
  request_head head;
  std::byte argument[inline_bytes];
};

/// Ends with the client, which sends a request of no length.
void serve() {
  request got;
  std::vector<std::byte> block(max_bytes);
  while (true) {
    MPI_Status status;
    must(MPI_Recv(&got, sizeof got, MPI_BYTE, 0, request_tag, MPI_COMM_WORLD, &status), "MPI_Recv");
    int length = 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    if (length == 0) return;
    const std::byte* argument = got.argument;
    if (got.head.bytes > inline_bytes) {
      must(MPI_Recv(block.data(), static_cast<int>(block.size()), MPI_BYTE, 0, block_tag, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE),
           "MPI_Recv");
      argument = block.data();
    }
    const std::uint64_t answer = execute(got.head.what, {argument, got.head.bytes});
    must(MPI_Send(&answer, sizeof answer, MPI_BYTE, 0, answer_tag, MPI_COMM_WORLD), "MPI_Send");
  }
}

class mpi_client final : public client {
 public:
  std::uint64_t call(op what, std::span<const std::byte> argument) override {
    request_.head = {what, 0, argument.size()};
    std::size_t bytes = sizeof request_.head;
    if (!argument.empty() && argument.size() <= inline_bytes) {
      std::memcpy(request_.argument, argument.data(), argument.size());
      bytes += argument.size();
    }
    must(MPI_Send(&request_, static_cast<int>(bytes), MPI_BYTE, 1, request_tag, MPI_COMM_WORLD), "MPI_Send");
    if (argument.size() > inline_bytes) {
      must(MPI_Send(argument.data(), static_cast<int>(argument.size()), MPI_BYTE, 1, block_tag, MPI_COMM_WORLD),
           "MPI_Send");
    }
    std::uint64_t answer = 0;
    must(MPI_Recv(&answer, sizeof answer, MPI_BYTE, 1, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
    return answer;
  }

  std::uint64_t call_many(std::size_t count) override {
    answers_.resize(count);
    receives_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      must(MPI_Irecv(&answers_[i], sizeof answers_[i], MPI_BYTE, 1, answer_tag, MPI_COMM_WORLD, &receives_[i]),
           "MPI_Irecv");
    }
    const request_head head;
    for (std::size_t i = 0; i < count; ++i) {
      must(MPI_Send(&head, sizeof head, MPI_BYTE, 1, request_tag, MPI_COMM_WORLD), "MPI_Send");
    }
    must(MPI_Waitall(static_cast<int>(count), receives_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    return std::accumulate(answers_.begin(), answers_.end(), std::uint64_t{0});
  }

 private:
  request request_{};
  std::vector<std::uint64_t> answers_;
  std::vector<MPI_Request> receives_;
};

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string line(text, static_cast<std::size_t>(length));
  for (char& c : line) c = c == '\t' ? ' ' : c;
  return line.substr(0, line.find_first_of(",\n"));
}

}  // namespace

int main(int argc, char** argv) {
  const options given = parse(argc, argv);
  end_with_parent(::getppid());
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int status = 0;
  try {
    if (size != 2) throw std::runtime_error("needs two ranks: mpirun -n 2 ...");
    ::alarm(120);
    pin_to(rank == 0 ? given.client_core : given.server_core);
    if (rank == 0) {
      mpi_client peer;
      status = run_client(peer, {HAM_PEER_NAME, library_version(), "MPI_Send and MPI_Recv, pinned ranks"}, given);
      must(MPI_Send(nullptr, 0, MPI_BYTE, 1, request_tag, MPI_COMM_WORLD), "MPI_Send");
    } else {
      serve();
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "mpi: rank %d: %s\n", rank, failure.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
