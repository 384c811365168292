/* Compiled into Spin's verifier of a model: the run that it is compared with, from the file that $RECORDED names. A
 * line is an event: the number of the observer, and what it saw (trace.promela). Ends the verifier with status 7 if the
 * model knows the run.
 */
#include <stdio.h>
#include <stdlib.h>

enum { max_events = 250, accepted = 7 };
static short recorded[OBSERVERS][max_events];
static int recorded_count[OBSERVERS];

static void read_recorded(void) {
  static int done = 0;
  int who;
  int what;
  FILE* file;
  if (done) return;
  done = 1;
  file = fopen(getenv("RECORDED"), "r");
  if (file == NULL) {
    perror("RECORDED");
    exit(2);
  }
  while (fscanf(file, "%d %d", &who, &what) == 2) {
    if (who < 0 || who >= OBSERVERS || recorded_count[who] == max_events) {
      fprintf(stderr, "too many events, or of no observer\n");
      exit(2);
    }
    recorded[who][recorded_count[who]++] = (short)what;
  }
  fclose(file);
}

/* What the model does is the next event of its observer, or differs from the run. */
static int take_event(int who, int what, unsigned char* used_up) {
  read_recorded();
  if (used_up[who] < recorded_count[who] && recorded[who][used_up[who]] == what) {
    ++used_up[who];
    return 1;
  }
  return 0;
}

static void end_of_model(const unsigned char* used_up) {
  int who;
  read_recorded();
  for (who = 0; who < OBSERVERS; ++who) {
    if (used_up[who] != recorded_count[who]) return;
  }
  exit(accepted);
}
