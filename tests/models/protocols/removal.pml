/* A node that is removed, or dies, while a call is on its way (src/core/connections.cpp, call_table.hpp; docs/
 * failure-semantics.md).
 *
 * The caller sends a call through its ring. The target takes it, which the ring's counter shows (consumed()), runs it and
 * replies; before it begins one it may take what else has arrived, and it does not run a call whose deadline has passed.
 * At any moment the process may die. The caller hears of it, takes the replies that are still in the ring, reads the
 * counter, and fails what is left: "not run" if the target is dead and had not taken the call, else "may have run". Or the
 * target is removed: the caller takes the replies, closes the connection and says "may have run" of all that is left,
 * because the process goes on for a while, with what it has taken and what is still in the ring. It ends at some moment,
 * in order or killed, which may be before the caller has closed the connection.
 * Against that: the caller's sending thread, which may be about to send, and the deadline of the call.
 *
 * It holds: the future settles exactly once, nobody waits for ever, what is said not to have run has not, and what was
 * answered before the loss was noticed has its result.
 * A connection that breaks while the process lives is as a removal. Not in it: the goodbye that a removed target is sent,
 * behind which it begins nothing; calls that have found no room in the ring.
 */
#define OBSERVERS 5
#include "trace.promela"
#define CALLS 2

/* Who observes what of a real run: the sending thread, the target, its end (0: dies, 1: is removed), the outcome of each
 * call. */
#define SENDER 0
#define TARGET 1
#define END 2
#define OUTCOME 3

chan ring = [2] of { byte };
chan replies = [2] of { byte };
chan kept = [2] of { byte };   /* calls that the target has taken and not begun */

bool alive = true, removed, lost;
byte sent, consumed;
byte ran[CALLS], settled[CALLS];
bool said_not_run[CALLS], said_run[CALLS];
bool pending[CALLS];
bool answered[CALLS];  /* by the target */
bool owed[CALLS];      /* answered when the loss was noticed, and pending */

inline settle(which) {
  pending[which] = false;
  settled[which]++;
  assert(settled[which] == 1)
}

inline take_reply() {
  replies?which;
  if
  :: pending[which] -> EVENT(OUTCOME + which, 'v'); settle(which); said_run[which] = true
  :: else -> skip   /* its deadline has passed */
  fi
}

inline notice_loss() {
  for (which : 0 .. CALLS - 1) {
    owed[which] = answered[which] && pending[which]
  }
}

inline take_last_replies() {
#ifndef MUTANT_ANSWERS_DROPPED
  do   /* what it has answered before still counts */
  :: atomic { nempty(replies) -> take_reply() }
  :: empty(replies) -> break
  od
#else
  skip
#endif
}

/* What is pending was not taken if its number is not below `taken`. */
inline fail_pending() {
  atomic {
    lost = true;
    for (which : 0 .. CALLS - 1) {
      assert(!(owed[which] && pending[which]));
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
  }
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
     :: atomic { alive && nfull(replies) -> EVENT(TARGET, 30 + which); replies!which; answered[which] = true }
     :: !alive -> break
     fi
  :: !alive -> break
  od
}

proctype end_of_target() OBSERVED {
  if
  :: atomic { EVENT(END, 0); alive = false }
  :: atomic { EVENT(END, 1); removed = true };
     alive = false   /* later */
  fi
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

/* The thread that makes progress, and the one that removes the target: both settle calls under the receiving lock. */
proctype receiver() OBSERVED {
  byte which, taken;
#ifdef MUTANT_COUNTER_READ_BEFORE_DEATH
  bool has_read;
#define HAS_READ has_read
#else
#define HAS_READ true
#endif
  do
  :: atomic { nempty(replies) -> take_reply() }
  :: atomic { pending[0] && settled[0] == 0 -> EVENT(OUTCOME, 'l'); settle(0) }   /* the deadline */
#ifdef MUTANT_COUNTER_READ_BEFORE_DEATH
  :: atomic { !has_read -> taken = consumed; has_read = true }   /* as if the news were that the target will die */
#endif
  :: atomic { !alive && !lost && HAS_READ -> notice_loss() };
     take_last_replies();
#ifndef MUTANT_COUNTER_READ_BEFORE_DEATH
     taken = consumed;
#endif
     fail_pending();
     break
  :: atomic { removed && !lost -> notice_loss() };
     take_last_replies();
#ifdef MUTANT_REMOVED_AS_DEAD
     taken = consumed;
#else
     taken = CALLS;   /* the target goes on: all may be taken yet */
#endif
     fail_pending();
     break
#ifdef MUTANT_NOBODY_TELLS
  :: !alive -> break
#endif
  od
}

init {
  byte which;
  atomic { run target(); run end_of_target(); run sender(); run receiver() }
  (_nr_pr == 1);
  for (which : 0 .. CALLS - 1) {
    assert(settled[which] == 1);
    assert(!(said_not_run[which] && ran[which] > 0));
    assert(!(said_run[which] && ran[which] == 0))
  };
  TRACE_ENDS
}
