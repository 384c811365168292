/* HAM from C, and from languages that call C: functions by name with bytes, memory of other nodes, errors as codes.
 *
 *     static int twice(const void* argument, size_t bytes, ham_reply* reply, void* user) {
 *       double x;
 *       if (bytes != sizeof x) return ham_fail(reply, "one double is expected");
 *       memcpy(&x, argument, sizeof x);
 *       x *= 2;
 *       return ham_set_result(reply, &x, sizeof x);
 *     }
 *
 *     int main(int argc, char** argv) {
 *       ham_register("twice", &twice, NULL);           // in every process, before ham_start
 *       if (ham_start(&argc, &argv) != HAM_OK) return 1;  // targets execute calls in here and do not return
 *       double x = 21;
 *       size_t bytes;
 *       if (ham_call(1, "twice", &x, sizeof x, -1, &x, sizeof x, &bytes) != HAM_OK) puts(ham_error_message());
 *       return ham_finish();
 *     }
 *
 * Link libham. Every function that can fail returns a status: HAM_OK, which is 0, or one of the codes below; then
 * ham_error_message() is a text of what went wrong and what to do. Nothing is thrown. All functions may be called from
 * any thread unless it says otherwise. Times are in milliseconds; a negative one means without limit. A thread that
 * waits executes calls that arrive meanwhile. docs/c-api.md is the manual.
 */
#ifndef HAM_HAM_H
#define HAM_HAM_H

#include <stddef.h>
#include <stdint.h>

#include "ham/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors */

enum ham_status_code {
  HAM_OK = 0,
  HAM_ERROR = 1,              /* anything that has no code of its own */
  HAM_ERROR_ARGUMENT = 2,     /* a null pointer or a name that cannot be, detected before anything was done */
  HAM_ERROR_CONFIG = 3,       /* HAM_NODES, a setting, or no job has been started */
  HAM_ERROR_CALL = 4,         /* the call cannot be made: no such node or function; nothing was called */
  HAM_ERROR_BUFFER = 5,       /* memory that was freed, is another node's, or too short; nothing was moved */
  HAM_ERROR_NODE_FAILURE = 6, /* the node, or the connection to it, is lost; ham_error_outcome() */
  HAM_ERROR_DEADLINE = 7,     /* the time given to a call has passed; ham_error_outcome() */
  HAM_ERROR_FUNCTION = 8,     /* the function ended with an error; ham_error_function_code() */
  HAM_ERROR_EXCEPTION = 9,    /* an exception left a function in C++ */
  HAM_ERROR_MEMORY = 10,      /* no memory, here or on the node */
  HAM_ERROR_TRUNCATED = 11,   /* the result is longer than the space for it */
  HAM_NOT_YET = 12,           /* not an error: what is waited for has not happened in the given time */
  HAM_ERROR_CANCELLED = 13,   /* the call was stopped; ham_error_outcome() */
  HAM_ERROR_STAGE = 14        /* a stage of a recorded graph has failed; ham_error_stage(), ham_error_cause() */
};

enum ham_outcome {
  HAM_NOT_RUN = 0,      /* the call never runs */
  HAM_MAY_HAVE_RUN = 1, /* it may have run, in part or to its end, or may yet run */
  HAM_RAN = 2           /* it was executed, its result was lost */
};

/* Of the last function of the calling thread that did not return HAM_OK: its text, valid until the next such function
 * of the thread; its outcome, for HAM_ERROR_NODE_FAILURE, HAM_ERROR_DEADLINE and HAM_ERROR_CANCELLED, else HAM_NOT_RUN;
 * what the called function has returned, for HAM_ERROR_FUNCTION, else 0. */
const char* ham_error_message(void);
int ham_error_outcome(void);
int ham_error_function_code(void);
/* For HAM_ERROR_STAGE: the number of the stage, and what it has failed with, which the two above tell of, too: a code
 * and its text, valid as long as the message. Else -1, HAM_OK and "". */
int64_t ham_error_stage(void);
int ham_error_cause(void);
const char* ham_error_cause_message(void);
/* The name of a code, "HAM_ERROR_CALL"; "unknown status" for another number. */
const char* ham_status_text(int status);

/* ---- version */

/* HAM_VERSION of the library. */
int ham_version(void);

/* ---- the job */

typedef int32_t ham_node;

/* Starts the targets that HAM_NODES, or the command line, asks for: "shm:1" by default. Reads and removes the --ham-*
 * options of the command line; with two null pointers the command line is left alone. In a process that was started as
 * a target it executes calls until the job ends, and leaves the process then (exit). If the job is up already, as in a
 * program linked with ham::offload, it does nothing. The job ends with ham_finish or the process. One thread at a time.
 */
int ham_start(int* argc, char*** argv);
/* The same with these nodes, written as in HAM_NODES, instead of those of the environment. An interpreter, which loads
 * the library later, asks for targets as "exec:/usr/bin/python3": that program is started with the same arguments. */
int ham_start_nodes(const char* nodes);
/* Ends the targets, if ham_start has started them. No future may be held any more. One thread at a time: no other one
 * may be within a function of this library, also when the process ends (ham_queue_wake lets those go that wait). */
int ham_finish(void);

/* Number of nodes, the host included; 0 if no job is up. */
int32_t ham_num_nodes(void);
/* The node of the caller; -1 if no job is up. */
ham_node ham_this_node(void);
/* The host name of a node: at most `space` bytes with the zero at its end; shortened if there are more. */
int ham_node_name(ham_node node, char* name, size_t space);
/* Whether a node can be called, as far as this one knows: 1 or 0. May connect to it and block. */
int ham_alive(ham_node node, int* alive);
/* Adds targets, written as in HAM_NODES; gives the number of the first one. On the host only. */
int ham_add_node(const char* group, ham_node* first);
/* Ends a target. On the host only. */
int ham_remove_node(ham_node node);
/* Makes a node load a shared library (dlopen there, with its search path and working directory) and waits for it. The
 * functions that it offers can be called there from then on. Linked with libham.so, as the node's program. On the host;
 * other nodes for themselves only. HAM_ERROR_CALL with the linker's reason. Loaded already: HAM_OK. */
int ham_load_library(ham_node node, const char* path);

/* ---- functions that others call by name */

/* The answer of a function that is being executed. */
typedef struct ham_reply ham_reply;

/* Gets the bytes of the argument, valid until it returns, and `user` of ham_register. Returns 0, or a code that the
 * caller gets with HAM_ERROR_FUNCTION. It runs on the thread that receives, or on one that waits in this library. */
typedef int (*ham_function)(const void* argument, size_t bytes, ham_reply* reply, void* user);

/* Lets all nodes call `function` here under this name. In every process that is to execute it, before ham_start; later,
 * too, if no other node calls it before. The name has 1 to 255 bytes. HAM_ERROR_ARGUMENT if it is taken. */
int ham_register(const char* name, ham_function function, void* user);
/* The same for a function of values, which are encoded as docs/wire-format.md says (Types): `layout` is what ham_layout
 * tells of it, "f8,vec<f8>->f8". Its argument is the values one behind the other; so is its result. It is called by
 * ham_call_encoded, in C++ by ham::offload::function_by_name. HAM_ERROR_ARGUMENT for a text without "->". */
int ham_register_encoded(const char* name, const char* layout, ham_function function, void* user);
/* Within a function: its result, of which a copy is made. The last call counts; without one the result has no bytes.
 * Returns 0, or HAM_ERROR_MEMORY. */
int ham_set_result(ham_reply* reply, const void* bytes, size_t size);
/* Within a function: a text for the caller. Returns HAM_ERROR_FUNCTION, for the function to return. */
int ham_fail(ham_reply* reply, const char* text);
/* Within a function that stands for many, such as one of an interpreter, on the thread that executes it: what
 * `ham-trace`, traces and the errors of a node that is lost call this call from here on. A copy is made; the first 200
 * bytes count. */
void ham_name_call(const char* name);
/* Within a function, on the thread that executes it: 1 if its caller wants it to stop, which only calls with a timeout
 * or HAM_STOPPABLE can be asked to; else 0. Costs some nanoseconds over shared memory. */
int ham_stop_requested(void);
/* Within a function, on the thread that executes it: for how many milliseconds its caller still waits, 0 if no more; -1
 * without limit. */
int64_t ham_time_left(void);

/* ---- calls
 *
 * `name` is that of a function of ham_register, or the key of a function in C++ that its program offers under a name:
 *
 *     std::string greet(std::string_view who);
 *     static const bool offered = ham::offload::offer(ham::named<"greet">(ham::fn<&greet>));
 *
 * Such a function takes nothing or one std::string, std::string_view, std::vector or std::span<const T> of bytes
 * (std::byte, char, signed or unsigned char), and returns one of these (but no view) or nothing. */

/* Calls a function, waits at most `timeout_ms` and copies its result to `result`. `result_bytes` may be null, and so
 * may `result` with a space of 0. With HAM_ERROR_TRUNCATED, the function has run; *result_bytes is the size of its
 * result, and what fits of it was copied. */
int ham_call(ham_node node, const char* name, const void* argument, size_t bytes, int64_t timeout_ms, void* result,
             size_t space, size_t* result_bytes);
/* Calls and forgets. An error of the function is reported on stderr there. */
int ham_ping(ham_node node, const char* name, const void* argument, size_t bytes);

/* What is under way: a call or a transfer. Owned by the caller, used by one thread at a time. Given back by ham_result
 * or ham_release. */
typedef struct ham_future ham_future;

/* Starts a call; the argument is copied. After `timeout_ms` it ends with HAM_ERROR_DEADLINE. */
int ham_call_async(ham_node node, const char* name, const void* argument, size_t bytes, int64_t timeout_ms,
                   ham_future** future);
/* HAM_OK when it has ended, well or not; HAM_NOT_YET after `timeout_ms`. 0: does not wait. */
int ham_wait(ham_future* future, int64_t timeout_ms);
/* Waits, and gives the size of the result, or the error that the operation has ended with. The future is still held. */
int ham_result_size(ham_future* future, size_t* bytes);
/* Waits, copies the result, gives the future back and sets it to null; returns the error of the operation, if it has
 * one. With HAM_ERROR_TRUNCATED the future is still held: *result_bytes tells how much space it needs. */
int ham_result(ham_future** future, void* result, size_t space, size_t* result_bytes);
/* Gives a future back and sets it to null; does not wait: a call goes on, its result is dropped. A transfer is waited
 * for, because it uses the caller's memory. Null is fine. */
void ham_release(ham_future** future);

/* Functions in C++ with other parameters, for who encodes values as docs/wire-format.md says (Types). */

/* What crosses for the function of this key on a node, "f8,vec<f8>->f8": its parameters and its result, as
 * docs/wire-format.md writes types, with a zero at its end; *length, which may be null, is without that. */
int ham_layout(ham_node node, const char* name, int64_t timeout_ms, char* text, size_t space, size_t* length);
/* Starts a call with arguments that are encoded one behind the other; the result is what the function's result is
 * encoded as. Ends with HAM_ERROR_CALL if `layout` is not what ham_layout says, with HAM_ERROR or HAM_ERROR_EXCEPTION
 * if the bytes are no such values. */
int ham_call_encoded(ham_node node, const char* name, const char* layout, const void* arguments, size_t bytes,
                     int64_t timeout_ms, ham_future** future);

/* As a timeout of a call: without limit, but its function can be asked to stop. Calls with a timeout can, too. Costs
 * eight bytes, and an allocation on the node. */
#define HAM_STOPPABLE INT64_MAX

/* Asks a call to stop. If it has not begun it never does: it ends with HAM_ERROR_CANCELLED, HAM_NOT_RUN. If it runs,
 * ham_stop_requested() is 1 in its function, and the call ends as the function does. Does not wait. HAM_NOT_YET: there
 * was nothing to ask, because it has ended or is a transfer. */
int ham_request_stop(ham_future* future);

/* ---- completion queues: the ends of many calls, in the order in which they end */

typedef struct ham_queue ham_queue;

/* How one call has ended. */
typedef struct ham_completion {
  uint64_t id;        /* what ham_call_queued was given */
  int status;         /* HAM_OK, or what ham_result would return */
  int outcome;        /* as ham_error_outcome() */
  int function_code;  /* as ham_error_function_code() */
  const void* result; /* of HAM_OK; else the text of the error, with a zero behind it */
  size_t bytes;       /* of the result, or of the text without the zero */
} ham_completion;

/* A queue is owned by the caller; any thread may use it. */
int ham_queue_create(ham_queue** queue);
/* Gives it back and sets it to null. No thread may be within ham_queue_next. Calls go on, their results are dropped.
 * Null is fine. */
void ham_queue_release(ham_queue** queue);
/* Starts a call; the argument is copied. Its end goes to the queue, under `id`. Not HAM_OK: nothing was called, and the
 * queue gets nothing. */
int ham_call_queued(ham_node node, const char* name, const void* argument, size_t bytes, int64_t timeout_ms,
                    ham_queue* queue, uint64_t id);
/* As ham_request_stop, for the calls with this id that have been made with a timeout or HAM_STOPPABLE and have not
 * ended; HAM_NOT_YET if there is none. Their ends still go to the queue. */
int ham_queue_stop(ham_queue* queue, uint64_t id);
/* Waits for the next end, which is given to one of the threads that wait, and to be given back by
 * ham_completion_release. HAM_NOT_YET after `timeout_ms`, or for ham_queue_wake. */
int ham_queue_next(ham_queue* queue, int64_t timeout_ms, ham_completion** completion);
/* Lets one ham_queue_next, that which waits or the next one, return at once. Each call lets one more. */
int ham_queue_wake(ham_queue* queue);
/* Sets it to null. Null is fine. */
void ham_completion_release(ham_completion** completion);

/* ---- memory of nodes */

/* Memory of a node. A plain value: copy it, send its bytes to other nodes. */
typedef struct ham_buffer {
  uint64_t address;
  uint64_t tag;
  uint64_t size; /* bytes */
  ham_node node;
} ham_buffer;

/* Memory of `bytes` bytes on a node, aligned to 64 bytes, not initialised. */
int ham_allocate(ham_node node, size_t bytes, ham_buffer* buffer);
/* Frees it, once no transfer is under way. */
int ham_free(const ham_buffer* buffer);
/* Its address on its own node; elsewhere HAM_ERROR_BUFFER. */
int ham_local(const ham_buffer* buffer, void** address);

/* Copy bytes between memory of this process and a buffer, from `offset` on, or between the buffers of any two nodes.
 * Bytes are never converted between nodes of different byte order. The _async ones return at once: local memory must
 * stay as it is until the future has ended. */
int ham_put(const void* from, const ham_buffer* to, size_t offset, size_t bytes);
int ham_get(const ham_buffer* from, size_t offset, void* to, size_t bytes);
int ham_copy(const ham_buffer* from, size_t from_offset, const ham_buffer* to, size_t to_offset, size_t bytes);
int ham_put_async(const void* from, const ham_buffer* to, size_t offset, size_t bytes, ham_future** future);
int ham_get_async(const ham_buffer* from, size_t offset, void* to, size_t bytes, ham_future** future);
int ham_copy_async(const ham_buffer* from, size_t from_offset, const ham_buffer* to, size_t to_offset, size_t bytes,
                   ham_future** future);

/* ---- recorded graphs: calls that depend on each other, recorded once and replayed with one message
 *
 *     ham_graph_create(&graph);
 *     ham_graph_input(graph, "f8", &x);
 *     ham_argument to_scale[] = {{x, NULL, 0}, {HAM_NO_STAGE, &two, sizeof two}};
 *     ham_graph_call(graph, 1, "scale", "f8,f8->vec<f8>", to_scale, 2, &a);
 *     ham_argument to_total[] = {{a, NULL, 0}};
 *     ham_graph_call(graph, 2, "total", "vec<f8>->f8", to_total, 1, &b);    // the vector goes from node 1 to node 2
 *     ham_graph_compile(graph, b, 0, &step);
 *     ham_argument input = {HAM_NO_STAGE, &value, sizeof value};
 *     ham_graph_replay(step, &input, 1, -1, &future);
 *
 * Values are encoded, and types written, as docs/wire-format.md says (Types). Graphs are those of ham::offload::graph:
 * docs/richer-calls.md has their rules. */

typedef struct ham_graph ham_graph;
/* A stage of a graph, or an input, and what it gives: its number in the order of recording, from 0. */
typedef uint32_t ham_stage;
#define HAM_NO_STAGE UINT32_MAX

/* One argument of a stage: what an earlier stage gives, or, with HAM_NO_STAGE, these bytes, which are copied and the
 * same in every replay. */
typedef struct ham_argument {
  ham_stage stage;
  const void* bytes;
  size_t size;
} ham_argument;

/* A recording. Owned by the caller; one thread at a time; needs no job before it is compiled. Recording functions
 * return HAM_ERROR_ARGUMENT, and record nothing, for a stage that is none, or gives another type than what takes it. */
int ham_graph_create(ham_graph** graph);
/* Sets it to null. What was compiled of it stays. Null is fine. */
void ham_graph_release(ham_graph** graph);
/* A value that each replay is given, of this type: "f8". */
int ham_graph_input(ham_graph* graph, const char* type, ham_stage* input);
/* A call of a function by its name and its layout, as of ham_call_encoded, when all that it needs is there. */
int ham_graph_call(ham_graph* graph, ham_node node, const char* name, const char* layout, const ham_argument* arguments,
                   size_t count, ham_stage* stage);
/* Transfers, as of ham_put, ham_get and ham_copy, with what the memory has when they begin. They give nothing. Local
 * memory must stay until what was compiled is released. The first two are made by the node that compiles the graph, the
 * last one by that of `to`. */
int ham_graph_put(ham_graph* graph, const void* from, const ham_buffer* to, size_t offset, size_t bytes,
                  ham_stage* stage);
int ham_graph_get(ham_graph* graph, const ham_buffer* from, size_t offset, void* to, size_t bytes, ham_stage* stage);
int ham_graph_copy(ham_graph* graph, const ham_buffer* from, size_t from_offset, const ham_buffer* to, size_t to_offset,
                   size_t bytes, ham_stage* stage);
/* `stage` begins after `before` has ended, whose value it need not use; the result of a repeat stands for all of it. */
int ham_graph_after(ham_graph* graph, ham_stage stage, ham_stage before);
/* What errors call the stage; by default the name of its function. */
int ham_graph_name(ham_graph* graph, ham_stage stage, const char* name);
/* What is recorded between these two is repeated until `until`, a stage that gives a bool, gives true. `*value` stands
 * for the value of the iteration before, at first `initial`, of this type; two null pointers: there is none. `next` is
 * the value of an iteration, `*result` that of the last one. No repeat within another one. */
int ham_graph_begin_repeat(ham_graph* graph, const char* type, const ham_argument* initial, ham_stage* value);
int ham_graph_end_repeat(ham_graph* graph, ham_stage next, ham_stage until, ham_stage* result);

typedef struct ham_compiled_graph ham_compiled_graph;

/* Checks the graph, asks its nodes whether they have its functions with these layouts, and installs on each its part.
 * Replays give what `result` gives. `in_flight`: as many replays may be under way, each node has memory for them; 0: 8.
 * Blocks. HAM_ERROR_CONFIG for a graph that cannot be, HAM_ERROR_CALL for a function that a node lacks. */
int ham_graph_compile(ham_graph* graph, ham_stage result, size_t in_flight, ham_compiled_graph** compiled);
/* Waits until its replays have ended, and transfers that they have begun, also where a replay has failed; frees it and
 * sets it to null. Null is fine. */
void ham_compiled_graph_release(ham_compiled_graph** compiled);
/* Starts a replay with a value for each input, in the order of recording; their stages are HAM_NO_STAGE. They are
 * copied. The result is what `result` is encoded as. Blocks while as many as may be are under way. Any thread. After
 * `timeout_ms` it ends with HAM_ERROR_DEADLINE; every replay can be asked to stop (ham_request_stop), and ends with
 * HAM_ERROR_CANCELLED then. HAM_ERROR_STAGE if a stage has failed: those that have not begun do not begin. */
int ham_graph_replay(ham_compiled_graph* compiled, const ham_argument* inputs, size_t count, int64_t timeout_ms,
                     ham_future** future);

#ifdef __cplusplus
}
#endif

#endif
