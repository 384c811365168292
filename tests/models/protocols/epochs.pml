/* A node is replaced by one that has its place: remove_node and add_node, and supervision after many restarts
 * (docs/decisions/0011, 0016; src/core/peer_table.hpp; src/transport/common/ring_layout.hpp: the epoch of a connection).
 *
 * A place has a record of the node that is there. The place's memory and lock stay when the record is exchanged. The
 * control thread starts a new life (epoch) of the node when the old one was lost. A user's thread holds handles of the
 * life that it met and calls through them; a frame carries the epoch of its connection. What an old life has sent, or was
 * sent, may still arrive when the next one is there.
 *
 * A call that has failed because its life has ended is sent again, to the life that is there then, at most as often as
 * its user wishes (offload::retry, for functions that may run more than once). Each attempt is a call of its own; one that
 * could not be sent, because its life had ended before, counts.
 *
 * It holds: an attempt runs at most once and only in the life that it was meant for; it settles exactly once, and not by
 * the reply to another one; at most one has a result; the call is not said not to have run if an attempt has; a record is
 * not freed while it is used.
 * Not in it: a connection that breaks while the process goes on; stops and deadlines; a node that is given up.
 *
 * It is compared with two recordings (RECORDED_...): of the real table of peers, without calls, and of calls to a
 * supervised node, of whose records nothing is seen.
 */
#define OBSERVERS 7
#include "trace.promela"
#define LIVES 3
#define ATTEMPTS 3

/* Who observes what of the table: the user's thread, the control thread, what is held and freed. */
#define USER 0
#define CONTROL 1
#define MEMORY 2
/* And of the calls: the host (a life is there; 10 + it: a call leaves for it; 20 + it: its answer arrives), the node in all
 * its lives (10 + the life: a call runs; 20 + it: the answer leaves), which lives end, and how often the call may be repeated
 * with, at the end, its outcome. */
#define HOST 3
#define NODE 4
#define END 5
#define OUTCOME 6
#ifdef RECORDED_RESPAWN
#define TABLE_EVENT(who, what) skip
#define CALL_EVENT(who, what) EVENT(who, what)
#else
#define TABLE_EVENT(who, what) EVENT(who, what)
#define CALL_EVENT(who, what) skip
#endif

mtype = { call, reply };

chan line = [3] of { mtype, byte, byte };  /* to the node: what, epoch of the connection, the call's life */
chan back = [3] of { mtype, byte, byte };

byte life = 1;           /* of the process that runs now */
byte record = 1;         /* whose record has the place */
byte known_dead;         /* the last life that is known to have ended */
bool unused[LIVES + 1];  /* found so */
bool freed[LIVES + 1];
byte holders;
byte repetitions;            /* at most */
byte attempt;                /* the one that is under way */
byte attempt_of[LIVES + 1];  /* the one that was sent to the life */
byte ran[ATTEMPTS], settled[ATTEMPTS];
byte results;
bool may_have_run;   /* says the loss of an attempt */
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

/* Its life has ended. It is known not to have run if it was not taken; what was taken may not have begun. */
inline lose() {
  if
  :: ran[attempt] == 0
#ifdef MUTANT_LAST_LOSS_COUNTS
     -> may_have_run = false
#endif
  :: may_have_run = true
  fi;
  settle()
}

/* The process, in all its lives. */
proctype node() OBSERVED {
  mtype what;
  byte epoch, target;
  byte due;   /* the life that owes a reply */
end:
  do
  :: atomic { line?what(epoch, target) ->
       if
#ifdef MUTANT_NO_EPOCH
       :: true ->
#else
       :: epoch == life ->
#endif
          CALL_EVENT(NODE, 10 + life);
          assert(target == life);
          ran[attempt_of[target]]++;
          assert(ran[attempt_of[target]] == 1);
          due = life
       :: else   /* it does not fit this connection: nothing runs */
       fi }
  :: atomic { due == life && nfull(back) -> CALL_EVENT(NODE, 20 + life); back!reply(life, target); due = 0 }
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
       CALL_EVENT(END, life);
       life++ }                                 /* dies, and the next life is started */
  :: atomic { record < life ->
       /* The receiving lock and the sending lock of the place are held. */
#ifndef MUTANT_LOSS_FORGOTTEN
       if
       :: pending && meant_for == record -> lose()
       :: else
       fi;
#endif
       known_dead = record;
       record++;
       TABLE_EVENT(CONTROL, record);
       CALL_EVENT(HOST, record) }
  :: atomic { known_dead >= 1 && !unused[1] && NOT_HELD -> unused[1] = true }
  :: atomic { known_dead >= 2 && !unused[2] && NOT_HELD -> unused[2] = true }
  :: atomic { unused[1] && !freed[1] -> TABLE_EVENT(CONTROL, 11); TABLE_EVENT(MEMORY, 11); freed[1] = true }
  :: atomic { unused[2] && !freed[2] -> TABLE_EVENT(CONTROL, 12); TABLE_EVENT(MEMORY, 12); freed[2] = true }
  :: over && record == life -> break
  od
}

proctype user() OBSERVED {
  byte mine, epoch, answer;
  mtype what;
  atomic {
    select(repetitions : 0 .. ATTEMPTS - 1);
    CALL_EVENT(OUTCOME, repetitions)
  };
  do
  :: true ->
#ifdef MUTANT_READS_BEFORE_IT_COUNTS
     mine = record;
     holders++;
#else
     holders++;          /* peer_hold: counts, then reads */
     atomic { mine = record; TABLE_EVENT(USER, 10 + mine); TABLE_EVENT(MEMORY, 1) };
#endif
     assert(!freed[mine]);
     atomic {   /* under the place's sending lock */
       if
       :: record == mine ->
          TABLE_EVENT(USER, 20 + mine);
          CALL_EVENT(HOST, 10 + mine);
          pending = true; meant_for = mine; attempt_of[mine] = attempt; line!call(mine, mine)
#ifdef MUTANT_SENDS_BY_PLACE
       :: record != mine ->
          pending = true; meant_for = mine; attempt_of[mine] = attempt; line!call(record, mine)
#else
       :: record != mine -> TABLE_EVENT(USER, 30 + mine); settle()   /* the node that the handle names is gone */
#endif
       fi
     };
     assert(!freed[mine]);
     do
     :: atomic { back?what(epoch, answer) ->
          if
#ifdef MUTANT_OLD_REPLY_COUNTS
          :: true -> CALL_EVENT(HOST, 20 + epoch); take_result(answer)
#else
          :: epoch == record && pending -> CALL_EVENT(HOST, 20 + epoch); take_result(answer)
          :: else   /* of a connection that has ended */
#endif
          fi }
     :: settled[attempt] > 0 -> break
#ifdef MUTANT_REPEATED_WHILE_PENDING
     :: life != mine -> break   /* its process is dead, but not yet known to be */
#endif
     od;
     assert(!freed[mine]);
     atomic { TABLE_EVENT(MEMORY, 2); holders-- };
     if
#ifdef MUTANT_RESULT_REPEATED
     :: attempt < repetitions -> attempt++
#else
     :: results == 0 && attempt < repetitions -> attempt++
#endif
     :: else -> break
     fi
  od;
  atomic {
    CALL_EVENT(OUTCOME, (results > 0 -> 'v' : (may_have_run -> 'm' : 'n')));
    over = true
  }
}

init {
  atomic { run node(); run control(); run user() }
  (_nr_pr == 2);
  assert(settled[0] == 1 && settled[attempt] == 1);
  assert(results == 0 || ran[attempt] == 1);
  assert(results > 0 || may_have_run || (ran[0] == 0 && ran[1] == 0 && ran[2] == 0));
  TRACE_ENDS
}
