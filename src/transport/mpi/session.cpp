// Start and end of MPI.
#include "transport/mpi/session.hpp"

#include "ham/error.hpp"

namespace ham::transport::mpi {

void session::begin() {
  if (ready_) return;
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) {
    throw config_error(
        "MPI has ended in this process, and cannot begin again; make one runtime only, or call MPI_Init and "
        "MPI_Finalize yourself around all of them");
  }
  int running = 0;
  MPI_Initialized(&running);
  int level = MPI_THREAD_SINGLE;
  if (running == 0) {
    const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    if (error != MPI_SUCCESS) throw config_error("MPI_Init_thread failed (" + text_of(error) + ")");
    ours_ = true;
  } else {
    MPI_Query_thread(&level);
  }
  int main_thread = 0;
  MPI_Is_thread_main(&main_thread);
  if (level < MPI_THREAD_SERIALIZED && main_thread == 0) {
    throw config_error(
        "this MPI lets only the thread call it that called MPI_Init; make the runtime there, or ask MPI_Init_thread "
        "for "
        "MPI_THREAD_MULTIPLE");
  }
  gate_.set(level, main_thread != 0);
  ready_ = true;
}

void session::finish() noexcept {
  if (!ours_) return;
  ours_ = false;
  ready_ = false;
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended == 0) MPI_Finalize();
}

std::string text_of(int error) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(error, text, &length) != MPI_SUCCESS) return "error " + std::to_string(error);
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace ham::transport::mpi
