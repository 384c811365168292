/* Relayed connections: two targets, and the host that passes on (src/core/relay_transport.cpp, relay_forwarder.cpp).
 *
 * A sender may have WINDOW frames under way that the receiver has not acknowledged; it acknowledges when STEP more are
 * taken. The host counts along, disconnects who sends more or acknowledges what it was not sent, and stores what it
 * cannot pass on; it never waits for room. Here both targets send FRAMES each, at once, through lines of bounded length
 * to the host; what the host sends always has room, in its outbox.
 *
 * It holds: nobody is disconnected, nothing is lost, doubled or overtaken, what the host stores for a node is bounded,
 * and all arrives.
 * Not in it: frames of different cost, ends of connections, more than two targets.
 */
#define OBSERVERS 5
#include "trace.promela"
#ifdef TRACE  /* 59 000 bytes of each ping in a window of 1 MiB */
#define FRAMES 60
#define WINDOW 17
#define STEP 5
/* Of the orders that agree with what was observed one is enough: everything arrives before more is sent. */
#define MAY_SEND (empty(to_host[0]) && empty(to_host[1]) && empty(outbox[0]) && empty(outbox[1]))
#else
#define MAY_SEND true
#define FRAMES 4
#define WINDOW 2
#ifdef MUTANT_LATE_CREDIT
#define STEP 3  /* more than the window */
#else
#define STEP 1
#endif
#endif

/* Who observes what of a real run: what each target sends, what each receives, the host. */
#define SENDS 0
#define RECEIVES 2
#define HOST 4

mtype = { frame, credit };

chan to_host[2] = [WINDOW] of { mtype, byte };
chan outbox[2] = [4 * WINDOW] of { mtype, byte };  /* of the host, to a target: without bound there, so its length is checked here */

byte given[2], consumed[2];   /* by each sender's own count */
byte host_given[2], host_consumed[2];
byte arrived[2], taken[2], acknowledged[2];  /* what has arrived is taken when the node polls the connection */

proctype target(byte me) OBSERVED {
  mtype what;
  byte number;
  do
#ifdef MUTANT_NO_WINDOW
  :: atomic { given[me] < FRAMES && nfull(to_host[me]) && MAY_SEND ->
#else
  :: atomic { given[me] < FRAMES && given[me] - consumed[me] < WINDOW && nfull(to_host[me]) && MAY_SEND ->
#endif
       EVENT(SENDS + me, 0);
       to_host[me]!frame(given[me]);
       given[me]++ }
  :: atomic { outbox[me]?what(number) ->
       if
       :: what == frame ->
          EVENT(RECEIVES + me, 0);
          assert(number == arrived[me]);  /* in order, once */
          arrived[me]++
       :: else ->
          EVENT(RECEIVES + me, 100 + number);
          assert(number <= given[me] && number >= consumed[me]);
          consumed[me] = number
       fi }
  :: atomic { taken[me] < arrived[me] && taken[me] - acknowledged[me] < STEP -> taken[me]++ }
#ifdef MUTANT_CREDIT_BEFORE_TAKING
  :: atomic { taken[me] < FRAMES && acknowledged[me] <= taken[me] && nfull(to_host[me]) && MAY_SEND ->
       acknowledged[me] = taken[me] + 1;
       to_host[me]!credit(acknowledged[me]) }
#else
  :: atomic { taken[me] - acknowledged[me] >= STEP && nfull(to_host[me]) && MAY_SEND ->
       acknowledged[me] = taken[me];
       EVENT(SENDS + me, 100 + taken[me]);
       to_host[me]!credit(acknowledged[me]) }
#endif
  :: given[me] == FRAMES && taken[me] == FRAMES && consumed[me] + STEP > FRAMES && acknowledged[me] + STEP > FRAMES -> break
  od
}

proctype host() OBSERVED {
  byte from;
  mtype what;
  byte number;
end:
  do
  :: atomic {
       if
       :: to_host[0]?what(number) -> from = 0
       :: to_host[1]?what(number) -> from = 1
       fi;
       if
       :: what == frame ->
          EVENT(HOST, 2 * from);
#ifndef MUTANT_UNCOUNTED
          host_given[from]++;
#endif
          assert(host_given[from] - host_consumed[from] <= WINDOW)
       :: else ->
          EVENT(HOST, 2 * from + 1);
          assert(number <= host_given[1 - from] && number > host_consumed[1 - from]);
          host_consumed[1 - from] = number
       fi;
#ifdef MUTANT_WAITS_FOR_ROOM
       assert(len(outbox[1 - from]) < WINDOW);  /* else it would wait, and receive for nobody */
#endif
       /* frames and acknowledgements that one side can cause at once */
       assert(len(outbox[1 - from]) < 2 * WINDOW + 1);
       outbox[1 - from]!what(number) }
  od
}

init {
  atomic { run host(); run target(0); run target(1) };
#ifdef TRACE
  (given[0] == FRAMES && given[1] == FRAMES && arrived[0] == FRAMES && arrived[1] == FRAMES);
#endif
  TRACE_ENDS
}
