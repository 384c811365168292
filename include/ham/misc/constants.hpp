// Constants of the published HAM-Offload.
#pragma once

/// Bytes of a message buffer, for programs that print it or choose the sizes of arguments by it. The published
/// HAM-Offload could send no longer message. Here it is no limit: longer messages are sent in pieces, up to
/// HAM_MAX_MESSAGE (64 MiB by default).
#ifndef HAM_MESSAGE_SIZE
#define HAM_MESSAGE_SIZE 4096
#endif
