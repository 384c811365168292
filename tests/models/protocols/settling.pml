/* A call that is given up or stopped, against its reply (src/core/call_table.*, call_sender.cpp; decisions 0005, 0015).
 *
 * The deadline of a call passes, or its future is detached, while the call or its reply is on its way. The future settles
 * at once; its slot is kept until the late reply has come. A stop is a frame that follows the call, when the user asks or
 * when the deadline has passed. The target obeys it if the call has not begun, also if other calls have arrived in
 * between, and while an earlier one has arrived and is about to begin; it always answers the call itself.
 *
 * Two calls, one after the other, which may use the same slot. It holds: each future settles exactly once, with the result
 * of its own call or with an error; a call runs at most once, and not when it is settled as "did not run"; a reply always
 * finds a slot that waits for it; in the end the slots are free.
 * Not in it: the loss of the target (see removal.pml), batches.
 */
#define OBSERVERS 5
#include "trace.promela"
#define CALLS 2
#define SLOTS 2
#define NONE 255

/* Who observes what of a real run: calls that leave, replies that arrive, the outcome of each call, the target. */
#define LEAVING 0
#define ARRIVING 1
#define OUTCOME 2
#define TARGET 4

mtype = { call, cancel, reply, refused };

chan to_target = [6] of { mtype, byte, byte };  /* what, slot, number of the call */
chan to_caller = [4] of { mtype, byte, byte };

/* Of a slot: what the table of pending calls has. */
bool used[SLOTS], reply_due[SLOTS], orphan[SLOTS], pending[SLOTS];
byte whose[SLOTS];
/* Of a call. */
byte settled[CALLS], ran[CALLS];
bool not_run[CALLS], held[CALLS], cancelled[CALLS];

inline settle(slot) {
  pending[slot] = false;
  settled[whose[slot]]++;
  assert(settled[whose[slot]] == 1)
}

inline free_slot(slot) {
  assert(used[slot]);
  used[slot] = false;
  orphan[slot] = false;
  reply_due[slot] = false
}

/* Its deadline has passed. There is room: a call is stopped once. */
inline stop_late(slot) {
  if
  :: !cancelled[whose[slot]] -> cancelled[whose[slot]] = true; to_target!cancel(slot, whose[slot])
  :: else
  fi
}

/* The future is read or destroyed: call_table::release, or abandon. */
inline give_back(slot) {
  held[whose[slot]] = false;
  if
#ifdef MUTANT_SLOT_REUSED
  :: !pending[slot] -> free_slot(slot)
#else
  :: !pending[slot] && !reply_due[slot] -> free_slot(slot)
  :: !pending[slot] && reply_due[slot] -> orphan[slot] = true
#endif
#ifdef MUTANT_ABANDON_FREES
  :: pending[slot] -> settled[whose[slot]]++; pending[slot] = false; free_slot(slot)
#else
  :: pending[slot] ->
     EVENT(OUTCOME + whose[slot], 'g');
     orphan[slot] = true; settled[whose[slot]]++; pending[slot] = false
#endif
  fi
}

proctype caller() OBSERVED {
  byte next, slot, i;
  mtype what;
  byte number;
  do
  :: atomic { next < CALLS && nfull(to_target) ->
       slot = 0;
       do
       :: slot < SLOTS && used[slot] -> slot++
       :: else -> break
       od;
       if
       :: slot < SLOTS ->
          used[slot] = true; pending[slot] = true; reply_due[slot] = true; whose[slot] = next; held[next] = true;
          to_target!call(slot, next);
          EVENT(LEAVING, next);
          next++
       :: else
       fi }
  /* the deadline passes */
  :: atomic { used[0] && pending[0] -> EVENT(OUTCOME + whose[0], 'l'); settle(0); stop_late(0)
#ifdef MUTANT_EXPIRED_FORGETS
       ; reply_due[0] = false
#endif
     }
  :: atomic { used[1] && pending[1] -> EVENT(OUTCOME + whose[1], 'l'); settle(1); stop_late(1) }
  /* the user gives its future back, settled or not */
  :: atomic { used[0] && held[whose[0]] -> give_back(0) }
  :: atomic { used[1] && held[whose[1]] -> give_back(1) }
  /* the user cancels */
  :: atomic { used[0] && pending[0] && !cancelled[whose[0]] && nfull(to_target) ->
       EVENT(LEAVING, 'c');
       cancelled[whose[0]] = true; to_target!cancel(0, whose[0])
#ifdef MUTANT_CANCEL_SETTLES
       ; not_run[whose[0]] = true; settle(0)
#endif
     }
  :: atomic { used[1] && pending[1] && !cancelled[whose[1]] && nfull(to_target) ->
       EVENT(LEAVING, 'c');
       cancelled[whose[1]] = true; to_target!cancel(1, whose[1])
     }
  :: atomic { to_caller?what(slot, number) ->
       EVENT(ARRIVING, number);
       assert(used[slot] && reply_due[slot]);   /* else: a reply to no call */
       assert(whose[slot] == number);           /* else: another call's result */
       reply_due[slot] = false;
       if
       :: orphan[slot] -> free_slot(slot)
       :: !orphan[slot] && pending[slot] ->
          EVENT(OUTCOME + number, 'v');
          not_run[number] = (what == refused); settle(slot)
       :: else   /* its deadline has passed; its holder gives the slot back */
#ifdef MUTANT_LATE_REPLY_SETTLES
          -> settle(slot)
#endif
       fi }
  :: atomic { next == CALLS && !used[0] && !used[1] && empty(to_target) -> break }
  od;
  for (i : 0 .. CALLS - 1) {
    assert(settled[i] == 1);
    assert(!(not_run[i] && ran[i] > 0))
  };
  TRACE_ENDS
}

/* Takes a call out that has not begun. */
inline refuse(which) {
  EVENT(TARGET, 20 + which);
#ifdef MUTANT_CANCELLED_RUNS
  ran[which]++;
#endif
  here[which] = false;
  to_caller!refused(at[which], which)
}

inline execute(which) {
  EVENT(TARGET, 10 + which);
  EVENT(TARGET, 20 + which);
  ran[which]++;
  assert(ran[which] == 1);
  here[which] = false;
  to_caller!reply(at[which], which)
}

proctype target() OBSERVED {
  mtype what;
  byte slot, number;
  bool here[CALLS];   /* has arrived, and not begun */
  byte at[CALLS];
end:
  do
  :: atomic { nempty(to_target) && nfull(to_caller) -> to_target?what(slot, number);
       if
       :: what == call -> here[number] = true; at[number] = slot
       :: what == cancel && here[number] -> refuse(number)
       :: else   /* the call has been answered */
#ifdef MUTANT_CANCEL_ANSWERS
          -> to_caller!refused(slot, number)
#endif
       fi }
  /* before a call begins what has arrived is received */
  :: atomic { here[0] && to_target??[cancel, eval(at[0]), 0] && nfull(to_caller) ->
       to_target??cancel(eval(at[0]), 0); refuse(0) }
  :: atomic { here[1] && to_target??[cancel, eval(at[1]), 1] && nfull(to_caller) ->
       to_target??cancel(eval(at[1]), 1); refuse(1) }
  /* in order */
  :: atomic { here[0] && nfull(to_caller) -> execute(0) }
  :: atomic { here[1] && !here[0] && nfull(to_caller) -> execute(1) }
  od
}

init {
  atomic { run target(); run caller() }
}
