/* A node is replaced by one that has its place: remove_node and add_node, and supervision after many restarts
 * (docs/decisions/0011, 0016; src/core/peer_table.hpp; src/transport/common/ring_layout.hpp: the epoch of a connection).
 *
 * A place has a record of the node that is there. The place's memory and lock stay when the record is exchanged. The
 * control thread starts a new life (epoch) of the node when the old one was lost. A user's thread holds handles of the
 * life that it met and calls through them; a frame carries the epoch of its connection. What an old life has sent, or was
 * sent, may still arrive when the next one is there.
 *
 * A call that has failed because its life has ended may be sent again, to the life that is there then (offload::retry, for
 * functions that may run more than once). Each attempt is a call of its own.
 *
 * It holds: an attempt runs at most once and only in the life that it was meant for; it settles exactly once, and not by
 * the reply to another one; at most one has a result; a record is not freed while it is used.
 */
#define OBSERVERS 3
#include "trace.promela"
#define LIVES 3
#define ATTEMPTS 2

/* Who observes what of the real table of peers: the user's thread, the control thread, what is held and freed. */
#define USER 0
#define CONTROL 1
#define MEMORY 2
#define NONE 255

mtype = { call, reply };

chan line = [3] of { mtype, byte, byte };  /* to the node: what, epoch of the connection, the call's life */
chan back = [3] of { mtype, byte, byte };

byte life = 1;           /* of the process that runs now */
byte record = 1;         /* whose record has the place */
byte known_dead;         /* the last life that is known to have ended */
bool unused[LIVES + 1];  /* found so */
bool freed[LIVES + 1];
byte holders;
byte attempt;                /* the one that is under way */
byte attempt_of[LIVES + 1];  /* the one that was sent to the life */
byte ran[ATTEMPTS], settled[ATTEMPTS];
byte results;
bool pending;
byte meant_for;
bool over;

inline settle() {
  pending = false;
  settled[attempt]++;
  assert(settled[attempt] == 1)
}

inline take_result(of_life) {
  assert(attempt_of[of_life] == attempt);
  results++;
  assert(results == 1);
  settle()
}

/* The process, in all its lives. */
proctype node() OBSERVED {
  mtype what;
  byte epoch, target;
end:
  do
  :: atomic { line?what(epoch, target) ->
       if
#ifdef MUTANT_NO_EPOCH
       :: true ->
#else
       :: epoch == life ->
#endif
          assert(target == life);
          ran[attempt_of[target]]++;
          assert(ran[attempt_of[target]] == 1);
          if
          :: nfull(back) -> back!reply(life, target)
          :: full(back)
          fi
       :: else   /* it does not fit this connection: nothing runs */
       fi }
  od
}

#ifdef MUTANT_FREED_WHILE_HELD
#define NOT_HELD true
#else
#define NOT_HELD (holders == 0)
#endif

/* Kills and starts lives; the host's control thread. */
proctype control() OBSERVED {
  do
  :: atomic { life < LIVES && record == life ->
       life++ }                                 /* dies, and the next life is started */
  :: atomic { record < life ->
       /* The receiving lock and the sending lock of the place are held. */
#ifndef MUTANT_LOSS_FORGOTTEN
       if
       :: pending && meant_for == record -> settle()
       :: else
       fi;
#endif
       known_dead = record;
       record++;
       EVENT(CONTROL, record) }
  :: atomic { known_dead >= 1 && !unused[1] && NOT_HELD -> unused[1] = true }
  :: atomic { known_dead >= 2 && !unused[2] && NOT_HELD -> unused[2] = true }
  :: atomic { unused[1] && !freed[1] -> EVENT(CONTROL, 11); EVENT(MEMORY, 11); freed[1] = true }
  :: atomic { unused[2] && !freed[2] -> EVENT(CONTROL, 12); EVENT(MEMORY, 12); freed[2] = true }
  :: over && record == life -> break
  od
}

proctype user() OBSERVED {
  byte mine, epoch, answer;
  mtype what;
  do
  :: true ->
#ifdef MUTANT_READS_BEFORE_IT_COUNTS
     mine = record;
     holders++;
#else
     holders++;          /* peer_hold: counts, then reads */
     atomic { mine = record; EVENT(USER, 10 + mine); EVENT(MEMORY, 1) };
#endif
     assert(!freed[mine]);
     atomic {   /* under the place's sending lock */
       if
       :: record == mine ->
          EVENT(USER, 20 + mine);
          pending = true; meant_for = mine; attempt_of[mine] = attempt; line!call(mine, mine)
#ifdef MUTANT_SENDS_BY_PLACE
       :: record != mine ->
          pending = true; meant_for = mine; attempt_of[mine] = attempt; line!call(record, mine)
#else
       :: record != mine -> EVENT(USER, 30 + mine); settle()   /* the node that the handle names is gone */
#endif
       fi
     };
     assert(!freed[mine]);
     do
     :: atomic { back?what(epoch, answer) ->
          if
#ifdef MUTANT_OLD_REPLY_COUNTS
          :: true -> take_result(answer)
#else
          :: epoch == record && pending -> take_result(answer)
          :: else   /* of a connection that has ended */
#endif
          fi }
     :: settled[attempt] > 0 -> break
#ifdef MUTANT_REPEATED_WHILE_PENDING
     :: life != mine -> break   /* its process is dead, but not yet known to be */
#endif
     od;
     assert(!freed[mine]);
     atomic { EVENT(MEMORY, 2); holders-- };
     if
#ifdef MUTANT_RESULT_REPEATED
     :: attempt + 1 < ATTEMPTS -> attempt++
#else
     :: results == 0 && attempt + 1 < ATTEMPTS -> attempt++
#endif
     :: break
     fi
  od;
  over = true
}

init {
  atomic { run node(); run control(); run user() }
  (_nr_pr == 2);
  assert(settled[0] == 1 && settled[attempt] == 1);
  assert(results == 0 || ran[attempt] == 1);
  TRACE_ENDS
}
