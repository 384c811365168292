/* A node that is removed, or dies, while a call is on its way (src/core/connections.cpp, call_table.hpp; docs/
 * failure-semantics.md).
 *
 * The caller sends a call through its ring. The target takes it, which the ring's counter shows (consumed()), runs it and
 * replies; before it begins one it may take what else has arrived, and it does not run a call whose deadline has passed. At any moment the process may die. The caller hears of it, takes the replies that are still in the ring, reads
 * the counter, and fails what is left: "not run" if the target is dead and had not taken the call, else "may have run".
 * Against that: the caller's sending thread, which may be about to send, and the deadline of the call.
 *
 * It holds: the future settles exactly once, nobody waits for ever, and what is said not to have run has not.
 * Not in it: a connection that breaks while the process lives, where "may have run" is always said.
 */
#define OBSERVERS 5
#include "trace.promela"
#define CALLS 2

/* Who observes what of a real run: the sending thread, the target, its death, the outcome of each call. */
#define SENDER 0
#define TARGET 1
#define DEATH 2
#define OUTCOME 3

chan ring = [2] of { byte };
chan replies = [2] of { byte };
chan kept = [2] of { byte };   /* calls that the target has taken and not begun */

bool alive = true, lost;
byte sent, consumed;
byte ran[CALLS], settled[CALLS];
bool said_not_run[CALLS], said_run[CALLS];
bool pending[CALLS];
bool receiving;   /* the lock under which calls settle */

inline settle(which) {
  pending[which] = false;
  settled[which]++;
  assert(settled[which] == 1)
}

proctype target() OBSERVED {
  byte which;
  do
  :: atomic { alive && nempty(ring) -> ring?which; EVENT(TARGET, 10 + which); kept!which
#ifndef MUTANT_CONSUMED_LATE
       ; consumed++
#endif
     }
  :: atomic { alive && nempty(kept) -> kept?which };
     if
     :: atomic { alive -> EVENT(TARGET, 20 + which); ran[which]++; assert(ran[which] == 1) }
     :: alive && settled[which] > 0 -> skip   /* it was stopped: it is answered only */
     :: !alive -> break
     fi;
#ifdef MUTANT_CONSUMED_LATE
     if
     :: alive -> consumed++
     :: !alive -> break
     fi;
#endif
     if
     :: atomic { alive && nfull(replies) -> EVENT(TARGET, 30 + which); replies!which }
     :: !alive -> break
     fi
  :: !alive -> break
  od
}

proctype death() OBSERVED {
  atomic { EVENT(DEATH, 0); alive = false }
}

proctype sender() OBSERVED {
  byte which;
  for (which : 0 .. CALLS - 1) {
    /* Under the sending lock: the endpoint is exchanged under it, too. */
    atomic {
      if
#ifndef MUTANT_SENT_AFTER_LOSS
      :: lost ->   /* refused at once */
         EVENT(SENDER, 20 + which); EVENT(OUTCOME + which, 'n');
         settle(which); said_not_run[which] = true
      :: else ->
#else
      :: true ->
#endif
         pending[which] = true;
         if
         :: nfull(ring) -> EVENT(SENDER, 10 + which); ring!which; sent++
         fi
      fi
    }
  }
}

/* The thread that makes progress. */
proctype receiver() OBSERVED {
  byte which, taken;
  do
  :: atomic { nempty(replies) -> replies?which;
       if
       :: pending[which] -> EVENT(OUTCOME + which, 'v'); settle(which); said_run[which] = true
       :: else -> skip   /* its deadline has passed */
       fi }
  :: atomic { pending[0] && settled[0] == 0 -> EVENT(OUTCOME, 'l'); settle(0) }   /* the deadline */
  :: !alive && !lost ->
#ifndef MUTANT_ANSWERS_DROPPED
     do   /* what it has answered before still counts */
     :: atomic { nempty(replies) -> replies?which;
          if
          :: pending[which] -> EVENT(OUTCOME + which, 'v'); settle(which); said_run[which] = true
          :: else
          fi }
     :: empty(replies) -> break
     od;
#endif
#ifdef MUTANT_COUNTER_READ_BEFORE_DEATH
     skip;
#else
     taken = consumed;
#endif
     atomic {
       lost = true;
       for (which : 0 .. CALLS - 1) {
         if
         :: pending[which] ->
            settle(which);
#ifdef MUTANT_ALWAYS_NOT_RUN
            said_not_run[which] = true
#else
            said_not_run[which] = (which >= taken);
            EVENT(OUTCOME + which, (said_not_run[which] -> 'n' : 'm'))
#endif
         :: else
         fi
       }
     };
     break
#ifdef MUTANT_NOBODY_TELLS
  :: !alive -> break
#endif
  od
}

init {
  byte which;
  atomic { run target(); run death(); run sender(); run receiver() }
  (_nr_pr == 1);
  for (which : 0 .. CALLS - 1) {
    assert(settled[which] == 1);
    assert(!(said_not_run[which] && ran[which] > 0));
#ifdef MUTANT_ANSWERS_DROPPED
    assert(len(replies) == 0);
#endif
    assert(!(said_run[which] && ran[which] == 0))
  };
  TRACE_ENDS
}
