/* SPDX-License-Identifier: Apache-2.0 */
/* A sample driver: an echo with everything a port can be made to do: take data in one piece or as a
   vector, be busy, keep a queue and flush it, use its timer, watch
   a process, do work on another thread, answer control and call, fail. It doubles as the driver of
   the tests. Compiled with -DVECTORS it is `echo_v_drv`, whose
   data comes to outputv, else `echo_drv` with output. Opened as {spawn_driver, "echo_drv"};
   "echo_drv general", "… errno", "… badarg" fail to start.

   port_control(Port, Operation, Argument), a number being ASCII digits:
     'e'       data is echoed as {Port, {data, Data}} (as at first)
     'q'       data is put into the queue
     'd' N     the first N bytes of the queue are taken off it and sent to the owner
     's'       the size of the queue as digits
     'b' '0/1' the port is (not) busy
     'B' MS    the next data makes the port busy for MS milliseconds
     't' MS    sends "tick" after MS milliseconds; 'c' cancels
     'h' MS    closing takes MS milliseconds for each step, not one
     'm'       the caller is watched: sends "down" when it ends
     'a' TEXT  TEXT is turned round by an async thread, then sent
     'f' WHAT  the driver fails: "eof", "posix", or WHAT as an atom
     'r' N     N bytes x as an answer, '1' first makes answers binaries, '0' lists
     others    badarg
   port_call(Port, N, Term) gives Term back. A port that closes drops half of what is queued in each
   step, one step a millisecond. */
#include <erl_driver.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  ErlDrvPort port;
  int queueing;
  int busy_ms; /* of the next data; 0: none */
  int is_busy;
  int flushing;
  unsigned long flush_ms; /* of a step; 0: 1 */
  int binary_answers;
} Echo;

typedef struct {
  ErlDrvSizeT size;
  char text[];
} Job;

static ErlDrvData echo_start(ErlDrvPort port, char* command) {
  const char* how = strchr(command, ' ');
  Echo* e;
  if (how && !strcmp(how + 1, "general")) return ERL_DRV_ERROR_GENERAL;
  if (how && !strcmp(how + 1, "badarg")) return ERL_DRV_ERROR_BADARG;
  if (how && !strcmp(how + 1, "errno")) {
    errno = EACCES;
    return ERL_DRV_ERROR_ERRNO;
  }
  e = driver_alloc(sizeof *e);
  memset(e, 0, sizeof *e);
  e->port = port;
  return (ErlDrvData)e;
}

static void echo_stop(ErlDrvData data) { driver_free((Echo*)data); }

/* After each piece of data. */
static void maybe_busy(Echo* e) {
  if (!e->busy_ms) return;
  e->is_busy = 1;
  set_busy_port(e->port, 1);
  driver_set_timer(e->port, e->busy_ms);
  e->busy_ms = 0;
}

#ifdef VECTORS
static void echo_outputv(ErlDrvData data, ErlIOVec* vector) {
  Echo* e = (Echo*)data;
  if (e->queueing) driver_enqv(e->port, vector, 0);
  else driver_outputv(e->port, NULL, 0, vector, 0);
  maybe_busy(e);
}
#else
static void echo_output(ErlDrvData data, char* bytes, ErlDrvSizeT size) {
  Echo* e = (Echo*)data;
  if (e->queueing) driver_enq(e->port, bytes, size);
  else driver_output(e->port, bytes, size);
  maybe_busy(e);
}
#endif

static void send_queued(Echo* e, ErlDrvSizeT wanted) {
  while (wanted > 0) {
    int count;
    SysIOVec* pieces = driver_peekq(e->port, &count);
    ErlDrvSizeT size;
    if (!pieces || count == 0) return;
    size = pieces[0].iov_len < wanted ? pieces[0].iov_len : wanted;
    driver_output(e->port, pieces[0].iov_base, size);
    driver_deq(e->port, size);
    wanted -= size;
  }
}

static void set_flush_timer(Echo* e) { driver_set_timer(e->port, e->flush_ms ? e->flush_ms : 1); }

static void echo_flush(ErlDrvData data) {
  Echo* e = (Echo*)data;
  e->flushing = 1;
  set_flush_timer(e);
}

static void echo_timeout(ErlDrvData data) {
  Echo* e = (Echo*)data;
  if (e->flushing) {
    driver_deq(e->port, driver_sizeq(e->port) / 2 + 1);
    if (driver_sizeq(e->port)) set_flush_timer(e);
  } else if (e->is_busy) {
    e->is_busy = 0;
    set_busy_port(e->port, 0);
  } else {
    driver_output(e->port, "tick", 4);
  }
}

static void turn_round(void* data) {
  Job* job = data;
  ErlDrvSizeT i;
  for (i = 0; i < job->size / 2; ++i) {
    const char c = job->text[i];
    job->text[i] = job->text[job->size - 1 - i];
    job->text[job->size - 1 - i] = c;
  }
}

static void echo_ready_async(ErlDrvData data, ErlDrvThreadData result) {
  Job* job = (Job*)result;
  driver_output(((Echo*)data)->port, job->text, job->size);
  driver_free(job);
}

static void start_job(Echo* e, char* text, ErlDrvSizeT size) {
  Job* job = driver_alloc(sizeof *job + size);
  job->size = size;
  memcpy(job->text, text, size);
  driver_async(e->port, NULL, turn_round, job, driver_free);
}

static void echo_process_exit(ErlDrvData data, ErlDrvMonitor* monitor) {
  (void)monitor;
  driver_output(((Echo*)data)->port, "down", 4);
}

static ErlDrvSSizeT answer_with_x(ErlDrvSizeT size, char** answer, ErlDrvSizeT room) {
  if (size > room) *answer = driver_alloc(size);
  memset(*answer, 'x', size);
  return (ErlDrvSSizeT)size;
}

static ErlDrvSSizeT binary_with_x(ErlDrvSizeT size, char** answer) {
  ErlDrvBinary* binary = driver_alloc_binary(size);
  memset(binary->orig_bytes, 'x', size);
  *answer = (char*)binary;
  return (ErlDrvSSizeT)size;
}

static void fail(Echo* e, const char* how) {
  if (!strcmp(how, "eof")) driver_failure_eof(e->port);
  else if (!strcmp(how, "posix")) driver_failure_posix(e->port, ENOSPC);
  else driver_failure_atom(e->port, (char*)how);
}

static ErlDrvSSizeT echo_control(ErlDrvData data, unsigned int operation, char* bytes, ErlDrvSizeT size,
                                 char** answer, ErlDrvSizeT room) {
  Echo* e = (Echo*)data;
  char text[64] = "";
  ErlDrvMonitor monitor;
  memcpy(text, bytes, size < sizeof text - 1 ? size : sizeof text - 1);
  switch (operation) {
    case 'e': e->queueing = 0; return 0;
    case 'q': e->queueing = 1; return 0;
    case 'd': send_queued(e, strtoul(text, NULL, 10)); return 0;
    case 's': {
      unsigned long n = driver_sizeq(e->port), digits = 1, m;
      for (m = n; m >= 10; m /= 10) ++digits;
      for (m = digits; m > 0; n /= 10) (*answer)[--m] = (char)('0' + n % 10);
      return (ErlDrvSSizeT)digits;
    }
    case 'b': set_busy_port(e->port, text[0] == '1'); return 0;
    case 'B': e->busy_ms = atoi(text); return 0;
    case 't': driver_set_timer(e->port, strtoul(text, NULL, 10)); return 0;
    case 'c': driver_cancel_timer(e->port); return 0;
    case 'h': e->flush_ms = strtoul(text, NULL, 10); return 0;
    case 'm': return driver_monitor_process(e->port, driver_caller(e->port), &monitor) ? -1 : 0;
    case 'a': start_job(e, bytes, size); return 0;
    case 'f': fail(e, text); return 0;
    case '1':
      e->binary_answers = 1;
      set_port_control_flags(e->port, PORT_CONTROL_FLAG_BINARY);
      return binary_with_x(0, answer);
    case '0':
      e->binary_answers = 0;
      set_port_control_flags(e->port, 0);
      return 0;
    case 'r':
      return e->binary_answers ? binary_with_x(strtoul(text, NULL, 10), answer)
                               : answer_with_x(strtoul(text, NULL, 10), answer, room);
    default: return -1;
  }
}

static ErlDrvSSizeT echo_call(ErlDrvData data, unsigned int operation, char* bytes, ErlDrvSizeT size,
                              char** answer, ErlDrvSizeT room, unsigned int* flags) {
  (void)data;
  (void)operation;
  (void)flags;
  if (size > room) *answer = driver_alloc(size);
  memcpy(*answer, bytes, size);
  return (ErlDrvSSizeT)size;
}

/* Nothing to prepare and nothing to give back: the callbacks exist to fire the probes. */
static int echo_init(void) { return 0; }
static void echo_finish(void) {}

static ErlDrvEntry entry = {
    .init = echo_init,
    .finish = echo_finish,
    .start = echo_start,
    .stop = echo_stop,
#ifdef VECTORS
    .driver_name = "echo_v_drv",
    .outputv = echo_outputv,
#else
    .driver_name = "echo_drv",
    .output = echo_output,
#endif
    .control = echo_control,
    .timeout = echo_timeout,
    .ready_async = echo_ready_async,
    .flush = echo_flush,
    .call = echo_call,
    .extended_marker = ERL_DRV_EXTENDED_MARKER,
    .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
    .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
    .driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING | ERL_DRV_FLAG_SOFT_BUSY,
    .process_exit = echo_process_exit,
};

DRIVER_INIT(echo_drv) { return &entry; }
