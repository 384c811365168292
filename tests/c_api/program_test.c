/* A program in C with two targets: calls and memory across processes, calls between targets, the death of one. */
#include <ham/ham.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                                  \
  do {                                                                                                    \
    if (!(condition)) {                                                                                   \
      fprintf(stderr, "%s:%d: not true: %s (%s)\n", __FILE__, __LINE__, #condition, ham_error_message()); \
      exit(EXIT_FAILURE);                                                                                 \
    }                                                                                                     \
  } while (0)

static int process(const void* argument, size_t bytes, ham_reply* reply, void* user) {
  int64_t pid = getpid();
  (void)argument, (void)bytes, (void)user;
  return ham_set_result(reply, &pid, sizeof pid);
}

/* Asks another node, from a target. */
static int ask(const void* argument, size_t bytes, ham_reply* reply, void* user) {
  int64_t pid = 0;
  ham_node whom;
  (void)user;
  if (bytes != sizeof whom) return ham_fail(reply, "a node is expected");
  memcpy(&whom, argument, sizeof whom);
  if (ham_call(whom, "process", NULL, 0, -1, &pid, sizeof pid, NULL) != HAM_OK)
    return ham_fail(reply, ham_error_message());
  return ham_set_result(reply, &pid, sizeof pid);
}

static int fill(const void* argument, size_t bytes, ham_reply* reply, void* user) {
  ham_buffer there;
  void* address;
  (void)user;
  if (bytes != sizeof there) return ham_fail(reply, "a buffer is expected");
  memcpy(&there, argument, sizeof there);
  if (ham_local(&there, &address) != HAM_OK) return ham_fail(reply, ham_error_message());
  memset(address, 'f', there.size);
  return 0;
}

static int die(const void* argument, size_t bytes, ham_reply* reply, void* user) {
  (void)argument, (void)bytes, (void)reply, (void)user;
  raise(SIGKILL);
  return 0;
}

static int64_t process_of(ham_node node) {
  int64_t pid = 0;
  size_t bytes = 0;
  CHECK(ham_call(node, "process", NULL, 0, 30000, &pid, sizeof pid, &bytes) == HAM_OK);
  CHECK(bytes == sizeof pid);
  return pid;
}

static int is_over = 0;

/* Behind the destructors of the main thread's variables, and behind the end of the job. */
static void at_exit(void) {
  if (!is_over) return;
  CHECK(ham_call(1, "process", NULL, 0, -1, NULL, 0, NULL) == HAM_ERROR_CONFIG);
  CHECK(strstr(ham_error_message(), "no HAM runtime is up") != NULL);
  puts("all is well");
}

int main(int argc, char** argv) {
  int64_t pid;
  ham_node two = 2, zero = 0, added;
  ham_buffer there;
  char text[100];
  int alive;

  CHECK(atexit(&at_exit) == 0);
  CHECK(ham_register("process", &process, NULL) == HAM_OK);
  CHECK(ham_register("ask", &ask, NULL) == HAM_OK);
  CHECK(ham_register("fill", &fill, NULL) == HAM_OK);
  CHECK(ham_register("die", &die, NULL) == HAM_OK);
  CHECK(ham_start(&argc, &argv) == HAM_OK);
  CHECK(argc == 2 && strcmp(argv[1], "mine") == 0);

  CHECK(ham_num_nodes() == 3 && ham_this_node() == 0);
  CHECK(process_of(0) == getpid());
  CHECK(process_of(1) != getpid() && process_of(1) != process_of(2));

  CHECK(ham_call(1, "ask", &two, sizeof two, -1, &pid, sizeof pid, NULL) == HAM_OK);
  CHECK(pid == process_of(2));
  CHECK(ham_call(1, "ask", &zero, sizeof zero, -1, &pid, sizeof pid, NULL) == HAM_OK);
  CHECK(pid == getpid());

  CHECK(ham_allocate(1, sizeof text, &there) == HAM_OK);
  CHECK(ham_call(1, "fill", &there, sizeof there, -1, NULL, 0, NULL) == HAM_OK);
  CHECK(ham_get(&there, 0, text, sizeof text) == HAM_OK && text[0] == 'f' && text[99] == 'f');
  CHECK(ham_call(2, "fill", &there, sizeof there, -1, NULL, 0, NULL) == HAM_ERROR_FUNCTION);
  CHECK(strstr(ham_error_message(), "memory of node 1") != NULL);
  CHECK(ham_free(&there) == HAM_OK);

  CHECK(ham_add_node("shm:1", &added) == HAM_OK && added == 3);
  CHECK(process_of(3) != process_of(1));
  CHECK(ham_remove_node(3) == HAM_OK);

  CHECK(ham_call(2, "die", NULL, 0, 60000, NULL, 0, NULL) == HAM_ERROR_NODE_FAILURE);
  CHECK(ham_error_outcome() == HAM_MAY_HAVE_RUN);
  CHECK(ham_alive(2, &alive) == HAM_OK && !alive);
  CHECK(ham_alive(1, &alive) == HAM_OK && alive);
  CHECK(ham_finish() == HAM_OK);
  CHECK(ham_num_nodes() == 0);
  is_over = 1;
  return 0;
}
