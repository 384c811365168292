// Messages of any size over MPI, and sends that complete by themselves.
#pragma once

#include "mpix/message.hpp"
#include "mpix/pause.hpp"

#include <mpi.h>

#include <list>
#include <optional>
#include <vector>

namespace ham::inline v1::mpix {

/// Tags on communicators that only this library knows.
enum tag : int { tag_batch = 1, tag_part = 2, tag_report = 3, tag_received = 4, tag_abandon = 5, tag_statuses = 64 };

/// Sends that own their bytes.
class outbox {
 public:
  void send(message_buffer bytes, int to, int tag, MPI_Comm over);

  /// A message in the parts that its header says.
  void send_batch(message_buffer bytes, int to, MPI_Comm over);

  /// Lets go of what has been sent. True if nothing is left.
  bool progress();

 private:
  struct item {
    message_buffer bytes;
    std::vector<MPI_Request> requests;
  };
  std::list<item> items_;
};

/// Sends one message to several receivers and returns the requests; the bytes must stay.
void start_batch(const message_buffer& bytes, int to, MPI_Comm over, std::vector<MPI_Request>& requests);

/// A message with this tag if one is there, of whatever size it is; `source` may be MPI_ANY_SOURCE and is set.
std::optional<message_buffer> poll_message(int& source, int tag, MPI_Comm over);

/// As poll_message, for a message in parts. Waits for the later parts if the first one is there.
std::optional<message_buffer> poll_batch(int source, MPI_Comm over);

/// True, again and again, until the request has completed.
bool is_pending(MPI_Request& request);

}  // namespace ham::mpix
