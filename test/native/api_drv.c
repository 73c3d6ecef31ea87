/* SPDX-License-Identifier: Apache-2.0 */
/* Calls every function of erl_driver.h that the sample drivers do not. port_control(Port, Test,
   Data) answers "ok", or the line of the check that failed. */
#include <erl_driver.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  ErlDrvPort port;
  ErlDrvTermData term;
  int child; /* made by driver_create_port */
  int busy_ms;
  int pipe[2];
  ErlDrvMonitor monitor;
  int has_thread;
  ErlDrvTid thread;
} Instance;

#define CHECK(condition)               \
  do {                                 \
    if (!(condition)) return __LINE__; \
  } while (0)
#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

static ErlDrvEvent event_of(int fd) { return (ErlDrvEvent)(long)fd; }

/* ---- Terms ---- */

static int test_terms(Instance* d) {
  static char text[] = "text", external[] = {(char)131, 104, 2, 97, 1, 106};
  double number = 1.5;
  ErlDrvSInt64 least = -9223372036854775807LL - 1;
  ErlDrvUInt64 most = 18446744073709551615ULL;
  ErlDrvBinary* large = driver_alloc_binary(1000);
  ErlDrvBinary* small = driver_alloc_binary(5);
  ErlDrvTermData atom = driver_mk_atom("key");
  memset(large->orig_bytes, 'L', 1000);
  memcpy(small->orig_bytes, "small", 5);
  {
    ErlDrvTermData terms[] = {ERL_DRV_PORT,
                              d->term,
                              ERL_DRV_NIL,
                              ERL_DRV_INT,
                              (ErlDrvTermData)-5,
                              ERL_DRV_INT,
                              (ErlDrvTermData)least,
                              ERL_DRV_UINT,
                              (ErlDrvTermData)most,
                              ERL_DRV_INT64,
                              (ErlDrvTermData)&least,
                              ERL_DRV_UINT64,
                              (ErlDrvTermData)&most,
                              ERL_DRV_FLOAT,
                              (ErlDrvTermData)&number,
                              ERL_DRV_STRING,
                              (ErlDrvTermData)text,
                              4,
                              ERL_DRV_ATOM,
                              atom,
                              ERL_DRV_NIL,
                              ERL_DRV_LIST,
                              2,
                              ERL_DRV_INT,
                              1,
                              ERL_DRV_INT,
                              2,
                              ERL_DRV_LIST,
                              2,
                              ERL_DRV_NIL,
                              ERL_DRV_STRING_CONS,
                              (ErlDrvTermData)text,
                              4,
                              ERL_DRV_BINARY,
                              (ErlDrvTermData)large,
                              998,
                              1,
                              ERL_DRV_BINARY,
                              (ErlDrvTermData)small,
                              3,
                              1,
                              ERL_DRV_BUF2BINARY,
                              (ErlDrvTermData)text,
                              4,
                              ERL_DRV_EXT2TERM,
                              (ErlDrvTermData)external,
                              sizeof external,
                              ERL_DRV_PID,
                              driver_connected(d->port),
                              ERL_DRV_TUPLE,
                              0,
                              ERL_DRV_ATOM,
                              atom,
                              ERL_DRV_INT,
                              1,
                              ERL_DRV_INT,
                              7,
                              ERL_DRV_NIL,
                              ERL_DRV_MAP,
                              2,
                              ERL_DRV_TUPLE,
                              19};
    CHECK(erl_drv_output_term(d->term, terms, LENGTH(terms)) == 1);
    CHECK(erl_drv_send_term(d->term, driver_caller(d->port), terms, LENGTH(terms)) == 1);
  }
  driver_free_binary(large);
  driver_free_binary(small);
  return 0;
}

/* Programs that leave none or two terms, take what is not there, or say what is no term. */
static int test_bad_terms(Instance* d) {
  double infinity = 1e308 * 10;
  static char junk[] = "junk";
  ErlDrvTermData two[] = {ERL_DRV_NIL, ERL_DRV_NIL}, few[] = {ERL_DRV_NIL, ERL_DRV_TUPLE, 2},
                 cut[] = {ERL_DRV_ATOM}, unknown[] = {99},
                 external[] = {ERL_DRV_EXT2TERM, (ErlDrvTermData)junk, 4},
                 floating[] = {ERL_DRV_FLOAT, (ErlDrvTermData)&infinity},
                 map[] = {ERL_DRV_INT, 1, ERL_DRV_INT, 2, ERL_DRV_INT, 1, ERL_DRV_INT, 3, ERL_DRV_MAP, 2};
  CHECK(erl_drv_output_term(d->term, two, 2) < 0);
  CHECK(erl_drv_output_term(d->term, few, 3) < 0);
  CHECK(erl_drv_output_term(d->term, cut, 1) < 0);
  CHECK(erl_drv_output_term(d->term, unknown, 1) < 0);
  CHECK(erl_drv_output_term(d->term, external, 3) < 0);
  CHECK(erl_drv_output_term(d->term, floating, 2) < 0);
  CHECK(erl_drv_output_term(d->term, map, LENGTH(map)) < 0);
  return 0;
}

/* ---- The queue ---- */

static int test_queue(Instance* d) {
  ErlDrvPort port = d->port;
  char bytes[32];
  int count, i;
  ErlIOVec vector;
  SysIOVec* vectors;
  SysIOVec pieces[3];
  ErlDrvBinary* binaries[3];
  ErlDrvBinary* bin = driver_alloc_binary(8);
  memcpy(bin->orig_bytes, "01234567", 8);
  CHECK(driver_sizeq(port) == 0);
  CHECK(driver_peekq(port, &count) == NULL && count == 0);
  driver_enq(port, "cd", 2);
  driver_pushq(port, "ab", 2);
  driver_enq_bin(port, bin, 2, 3);
  driver_pushq_bin(port, bin, 0, 1);
  CHECK(driver_binary_get_refc(bin) == 3);
  CHECK(driver_sizeq(port) == 8);
  pieces[0].iov_base = bin->orig_bytes;
  pieces[0].iov_len = 8;
  pieces[1].iov_base = "xy";
  pieces[1].iov_len = 2;
  binaries[0] = bin;
  binaries[1] = NULL;
  vector.vsize = 2;
  vector.size = 10;
  vector.iov = pieces;
  vector.binv = binaries;
  driver_enqv(port, &vector, 6);
  /* driver_pushqv is left to the unit tests: OTP 25.2 crashes there. */
  CHECK(driver_sizeq(port) == 12);
  CHECK(driver_peekqv(port, &vector) == 12 && vector.size == 12);
  CHECK(driver_vec_to_buf(&vector, bytes, sizeof bytes) == 12);
  CHECK(memcmp(bytes, "0abcd23467xy", 12) == 0);
  CHECK(driver_deq(port, 2) == 10);
  vectors = driver_peekq(port, &count);
  for (i = 0; i < count && vectors[i].iov_len == 0;) ++i;
  CHECK(count > 0 && *(char*)vectors[i].iov_base == 'b');
  CHECK(driver_deq(port, 10) == 0);
  CHECK(driver_binary_get_refc(bin) == 1);
  driver_free_binary(bin);
  return 0;
}

/* ---- Memory ---- */

static int test_memory(void) {
  char* block = driver_alloc(10);
  ErlDrvBinary* bin = driver_alloc_binary(3);
  CHECK(block && bin && bin->orig_size == 3);
  strcpy(block, "123456789");
  block = driver_realloc(block, 10000);
  CHECK(strcmp(block, "123456789") == 0);
  driver_free(block);
  memcpy(bin->orig_bytes, "abc", 3);
  CHECK(driver_binary_get_refc(bin) == 1 && driver_binary_inc_refc(bin) == 2 &&
        driver_binary_dec_refc(bin) == 1);
  bin = driver_realloc_binary(bin, 5000);
  CHECK(bin && bin->orig_size == 5000 && memcmp(bin->orig_bytes, "abc", 3) == 0);
  driver_free_binary(bin);
  return 0;
}

/* ---- Threads ---- */

typedef struct {
  ErlDrvMutex* mutex;
  ErlDrvCond* condition;
  ErlDrvTSDKey key;
  int turn;
} Shared;

static void* thread_main(void* argument) {
  Shared* s = argument;
  void* seen = erl_drv_tsd_get(s->key);
  erl_drv_tsd_set(s->key, s);
  erl_drv_mutex_lock(s->mutex);
  s->turn = 1;
  erl_drv_cond_signal(s->condition);
  while (s->turn != 2) erl_drv_cond_wait(s->condition, s->mutex);
  erl_drv_mutex_unlock(s->mutex);
  if (seen || erl_drv_tsd_get(s->key) != s) return NULL;
  erl_drv_thread_exit(s);
  return NULL;
}

static int test_threads(void) {
  Shared s;
  ErlDrvTid thread;
  void* result = NULL;
  ErlDrvThreadOpts* options = erl_drv_thread_opts_create("options");
  ErlDrvRWLock* rw = erl_drv_rwlock_create("rw");
  s.mutex = erl_drv_mutex_create("a mutex");
  s.condition = erl_drv_cond_create("a condition");
  s.turn = 0;
  CHECK(erl_drv_tsd_key_create("key", &s.key) == 0);
  erl_drv_tsd_set(s.key, &thread);
  CHECK(erl_drv_tsd_get(s.key) == &thread);
  CHECK(strcmp(erl_drv_mutex_name(s.mutex), "a mutex") == 0 &&
        strcmp(erl_drv_cond_name(s.condition), "a condition") == 0);
  CHECK(strcmp(erl_drv_rwlock_name(rw), "rw") == 0);
  options->suggested_stack_size = 64;
  CHECK(erl_drv_thread_create("a thread", &thread, thread_main, &s, options) == 0);
  CHECK(strcmp(erl_drv_thread_name(thread), "a thread") == 0);
  CHECK(!erl_drv_equal_tids(thread, erl_drv_thread_self()) &&
        erl_drv_equal_tids(erl_drv_thread_self(), erl_drv_thread_self()));
  erl_drv_mutex_lock(s.mutex);
  while (s.turn != 1) erl_drv_cond_wait(s.condition, s.mutex);
  s.turn = 2;
  erl_drv_cond_broadcast(s.condition);
  erl_drv_mutex_unlock(s.mutex);
  CHECK(erl_drv_thread_join(thread, &result) == 0 && result == &s);
  CHECK(erl_drv_mutex_trylock(s.mutex) == 0);
  erl_drv_mutex_unlock(s.mutex);
  erl_drv_rwlock_rlock(rw);
  CHECK(erl_drv_rwlock_tryrlock(rw) == 0 && erl_drv_rwlock_tryrwlock(rw) == EBUSY);
  erl_drv_rwlock_runlock(rw);
  erl_drv_rwlock_runlock(rw);
  erl_drv_rwlock_rwlock(rw);
  erl_drv_rwlock_rwunlock(rw);
  erl_drv_tsd_set(s.key, NULL);
  erl_drv_tsd_key_destroy(s.key);
  erl_drv_thread_opts_destroy(options);
  erl_drv_rwlock_destroy(rw);
  erl_drv_cond_destroy(s.condition);
  erl_drv_mutex_destroy(s.mutex);
  return 0;
}

/* ---- The system ---- */

static int test_system(void) {
  ErlDrvSysInfo info;
  char value[64], path[1024];
  size_t size = sizeof value;
  ErlDrvTime before = erl_drv_monotonic_time(ERL_DRV_NSEC), after;
  void* library;
  memset(&info, 0, sizeof info);
  driver_system_info(&info, sizeof info);
  CHECK(info.driver_major_version == 3 && info.driver_minor_version >= 3 && info.scheduler_threads > 0 &&
        info.otp_release[0]);
  CHECK(strcmp(erl_errno_id(ENOENT), "enoent") == 0 && strcmp(erl_errno_id(EACCES), "eacces") == 0 &&
        strcmp(erl_errno_id(100000), "unknown") == 0);
  after = erl_drv_monotonic_time(ERL_DRV_NSEC);
  CHECK(after >= before &&
        erl_drv_monotonic_time(ERL_DRV_SEC) - erl_drv_convert_time_unit(after, ERL_DRV_NSEC, ERL_DRV_SEC) <=
            1);
  CHECK(erl_drv_convert_time_unit(-1, ERL_DRV_MSEC, ERL_DRV_SEC) == -1 &&
        erl_drv_convert_time_unit(3, ERL_DRV_SEC, ERL_DRV_MSEC) == 3000);
  CHECK(erl_drv_monotonic_time(ERL_DRV_SEC) + erl_drv_time_offset(ERL_DRV_SEC) > 1000000000);
  CHECK(erl_drv_convert_time_unit(1, (ErlDrvTimeUnit)77, ERL_DRV_SEC) == ERL_DRV_TIME_ERROR);
  CHECK(erl_drv_putenv("VMRUN_API_DRV", "some value") == 0);
  CHECK(erl_drv_getenv("VMRUN_API_DRV", value, &size) == 0 && size == 10 && strcmp(value, "some value") == 0);
  size = 4;
  CHECK(erl_drv_getenv("VMRUN_API_DRV", value, &size) > 0);
  CHECK(erl_drv_getenv("VMRUN_NOT_THERE", value, &size) < 0);
  size = sizeof path;
  CHECK(erl_drv_getenv("NATIVE_DIR", path, &size) == 0);
  library = driver_dl_open(strcat(path, "/counter_drv"));
  CHECK(library && driver_dl_sym(library, "driver_init") && !driver_dl_sym(library, "no such thing"));
  CHECK(!driver_dl_open("no such library") && driver_dl_error());
  CHECK(driver_dl_close(library) == 0);
  return 0;
}

/* ---- Output ---- */

static int test_output(Instance* d) {
  static char large[100] = "";
  SysIOVec pieces[3];
  ErlDrvBinary* binaries[3];
  ErlIOVec vector;
  ErlDrvBinary* bin = driver_alloc_binary(200);
  memset(bin->orig_bytes, 'b', 200);
  driver_output(d->port, "plain", 5);
  driver_output2(d->port, "he", 2, "body", 4);
  driver_output_binary(d->port, "x", 1, bin, 10, 100);
  driver_output_binary(d->port, NULL, 0, bin, 0, 3);
  driver_output_binary(d->port, "e", 1, bin, 5, 0); /* from binary ports an empty binary */
  driver_output_binary(d->port, NULL, 0, bin, 0, 0);
  driver_output2(d->port, "n", 1, NULL, 0); /* the header alone */
  pieces[0].iov_base = large;
  pieces[0].iov_len = 1;
  pieces[1].iov_base = "piece";
  pieces[1].iov_len = 5;
  pieces[2].iov_base = bin->orig_bytes;
  pieces[2].iov_len = 4;
  binaries[0] = binaries[1] = NULL;
  binaries[2] = bin;
  vector.vsize = 3;
  vector.size = 10;
  vector.iov = pieces;
  vector.binv = binaries;
  driver_outputv(d->port, "hd", 2, &vector, 3);
  driver_free_binary(bin);
  return 0;
}

/* ---- The port ---- */

static int test_flags(Instance* d, int binary, int line) {
  int flags = get_port_flags(d->port);
  CHECK(!(flags & PORT_FLAG_BINARY) == !binary && !(flags & PORT_FLAG_LINE) == !line);
  return 0;
}

static int test_limits(Instance* d) {
  ErlDrvSizeT low = ERL_DRV_BUSY_MSGQ_READ_ONLY, high = ERL_DRV_BUSY_MSGQ_READ_ONLY;
  erl_drv_busy_msgq_limits(d->port, &low, &high);
  CHECK(low == 4096 && high == 8192);
  low = 100;
  high = 200;
  erl_drv_busy_msgq_limits(d->port, &low, &high);
  low = high = ERL_DRV_BUSY_MSGQ_READ_ONLY;
  erl_drv_busy_msgq_limits(d->port, &low, &high);
  CHECK(low == 100 && high == 200);
  low = high = ERL_DRV_BUSY_MSGQ_DISABLED;
  erl_drv_busy_msgq_limits(d->port, &low, &high);
  low = 10;
  high = 20;
  erl_drv_busy_msgq_limits(d->port, &low, &high);
  CHECK(low == ERL_DRV_BUSY_MSGQ_DISABLED && high == ERL_DRV_BUSY_MSGQ_DISABLED);
  return 0;
}

static int test_monitors(Instance* d) {
  ErlDrvMonitor first, second;
  ErlDrvTermData caller = driver_caller(d->port);
  CHECK(driver_monitor_process(d->port, caller, &first) == 0 &&
        driver_monitor_process(d->port, caller, &second) == 0);
  CHECK(driver_compare_monitors(&first, &first) == 0 && driver_compare_monitors(&first, &second) != 0);
  CHECK(driver_compare_monitors(&first, &second) == -driver_compare_monitors(&second, &first) ||
        (driver_compare_monitors(&first, &second) < 0) != (driver_compare_monitors(&second, &first) < 0));
  CHECK(driver_get_monitored_process(d->port, &first) == caller);
  CHECK(driver_demonitor_process(d->port, &first) == 0 && driver_demonitor_process(d->port, &first) != 0);
  CHECK(driver_get_monitored_process(d->port, &first) == driver_term_nil);
  d->monitor = second;
  return 0;
}

static int test_lock(Instance* d) {
  ErlDrvPDL lock = driver_pdl_create(d->port);
  CHECK(lock && driver_pdl_create(d->port) == NULL);
  CHECK(driver_pdl_get_refc(lock) == 1 && driver_pdl_inc_refc(lock) == 2);
  driver_pdl_lock(lock);
  driver_enq(d->port, "x", 1);
  driver_deq(d->port, 1);
  driver_pdl_unlock(lock);
  CHECK(driver_pdl_dec_refc(lock) == 1);
  return 0;
}

static int test_timer(Instance* d) {
  unsigned long left = 0;
  CHECK(driver_set_timer(d->port, 100000) == 0);
  CHECK(driver_read_timer(d->port, &left) == 0 && left > 90000 && left <= 100001);
  CHECK(driver_cancel_timer(d->port) == 0);
  return 0;
}

static int test_create(Instance* d) {
  Instance* child = driver_alloc(sizeof *child);
  memset(child, 0, sizeof *child);
  child->child = 1;
  child->port = driver_create_port(d->port, driver_caller(d->port), "a child", (ErlDrvData)child);
  CHECK(child->port && child->port != (ErlDrvPort)-1);
  child->term = driver_mk_port(child->port);
  {
    ErlDrvTermData message[] = {ERL_DRV_ATOM, driver_mk_atom("child"), ERL_DRV_PORT,
                                child->term,  ERL_DRV_TUPLE,           2};
    CHECK(erl_drv_output_term(d->term, message, LENGTH(message)) == 1);
  }
  return 0;
}

/* The reading end of a pipe that is closed and opened again under the same number: nothing of the
   first must be seen in the second. dup2 does both in one step, so that no other thread of the
   machine can get the number in between. */
static int test_reuse(Instance* d) {
  int again[2];
  CHECK(pipe(d->pipe) == 0);
  CHECK(write(d->pipe[1], "old", 3) == 3);
  CHECK(driver_select(d->port, event_of(d->pipe[0]), ERL_DRV_READ | ERL_DRV_USE, 1) == 0);
  CHECK(driver_select(d->port, event_of(d->pipe[0]), ERL_DRV_READ | ERL_DRV_USE_NO_CALLBACK, 0) == 0);
  CHECK(pipe(again) == 0 && dup2(again[0], d->pipe[0]) == d->pipe[0]);
  close(again[0]);
  close(d->pipe[1]);
  d->pipe[1] = again[1];
  CHECK(driver_select(d->port, event_of(d->pipe[0]), ERL_DRV_READ | ERL_DRV_USE, 1) == 0);
  CHECK(write(d->pipe[1], "new", 3) == 3);
  return 0;
}

/* Another port's descriptor: it is taken, and the logger is told. */
static int shared_pipe[2];

static int test_steal(Instance* d) {
  if (!shared_pipe[0]) CHECK(pipe(shared_pipe) == 0);
  CHECK(driver_select(d->port, event_of(shared_pipe[0]), ERL_DRV_READ, 1) == 0);
  return 0;
}

static int test_loot(Instance* d) {
  CHECK(write(shared_pipe[1], "loot", 4) == 4);
  (void)d;
  return 0;
}

static void* sending_thread(void* argument) {
  Instance* d = argument;
  ErlDrvTermData message[] = {
      ERL_DRV_ATOM, driver_mk_atom("thread"), ERL_DRV_PORT, d->term, ERL_DRV_TUPLE, 2};
  int i;
  for (i = 0; i < 1000; ++i) erl_drv_output_term(d->term, message, LENGTH(message));
  return NULL;
}

/* A thread sends while others run; waited for in stop. */
static int test_sending(Instance* d) {
  CHECK(erl_drv_thread_create("sender", &d->thread, sending_thread, d, NULL) == 0);
  d->has_thread = 1;
  return 0;
}

static int run_test(Instance* d, unsigned command, char* bytes, ErlDrvSizeT size) {
  switch (command) {
    case 0: return test_terms(d);
    case 1: return test_bad_terms(d);
    case 2: return test_queue(d);
    case 3: return test_memory();
    case 4: return test_threads();
    case 5: return test_system();
    case 6: return test_output(d);
    case 7: return test_flags(d, bytes[0], bytes[1]);
    case 8: return test_limits(d);
    case 9: return test_monitors(d);
    case 10: return test_lock(d);
    case 11: return test_timer(d);
    case 12: return test_create(d);
    case 13: return test_reuse(d);
    case 14:
      /* The data says whether there is a slice to speak of: with +yield-all there is none. */
      if (erl_drv_consume_timeslice(d->port, 1) != 0 && bytes[0] == 'y') return __LINE__;
      return erl_drv_consume_timeslice(d->port, 100) == 1 ? 0 : __LINE__;
    case 15: driver_lock_driver(d->port); return 0;
    case 16: return test_steal(d);
    case 17: return test_loot(d);
    case 18: return test_sending(d);
    case 20: return driver_failure_atom(d->port, "broken");
    case 21: return driver_failure_posix(d->port, ENOSPC);
    case 22: return driver_failure(d->port, 17);
    case 23: return driver_failure_eof(d->port);
    case 24: return driver_exit(d->port, 0);
    case 30:
      set_busy_port(d->port, 1);
      d->busy_ms = 20;
      return driver_set_timer(d->port, 20);
  }
  (void)size;
  return -1;
}

/* ---- Callbacks ---- */

static ErlDrvData start(ErlDrvPort port, char* command) {
  Instance* d;
  if (strstr(command, "general")) return ERL_DRV_ERROR_GENERAL;
  if (strstr(command, "badarg")) return ERL_DRV_ERROR_BADARG;
  if (strstr(command, "errno")) {
    errno = EMFILE;
    return ERL_DRV_ERROR_ERRNO;
  }
  d = driver_alloc(sizeof *d);
  memset(d, 0, sizeof *d);
  d->port = port;
  d->term = driver_mk_port(port);
  return (ErlDrvData)d;
}

static void stop(ErlDrvData data) {
  Instance* d = (Instance*)data;
  if (d->has_thread) erl_drv_thread_join(d->thread, NULL);
  if (d->pipe[0]) {
    close(d->pipe[1]);
    driver_select(d->port, event_of(d->pipe[0]), ERL_DRV_READ | ERL_DRV_USE, 0);
  }
  driver_free(data);
}

static void stop_select(ErlDrvEvent event, void* reserved) {
  (void)reserved;
  close((int)(long)event);
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned int command, char* bytes, ErlDrvSizeT size,
                            char** answer, ErlDrvSizeT room) {
  int line = run_test((Instance*)data, command, bytes, size);
  if (line < 0) return -1;
  /* After a failure the instance is gone. */
  return line ? snprintf(*answer, room, "line %d", line) : snprintf(*answer, room, "ok");
}

static ErlDrvSSizeT call(ErlDrvData data, unsigned int command, char* bytes, ErlDrvSizeT size, char** answer,
                         ErlDrvSizeT room, unsigned* flags) {
  (void)data;
  (void)flags;
  if (command != 5) return -1;
  if (size > room) *answer = driver_alloc(size);
  memcpy(*answer, bytes, size);
  return (ErlDrvSSizeT)size;
}

static void timeout(ErlDrvData data) {
  Instance* d = (Instance*)data;
  if (d->busy_ms) set_busy_port(d->port, 0);
  d->busy_ms = 0;
}

static void outputv(ErlDrvData data, ErlIOVec* ev) {
  Instance* d = (Instance*)data;
  char text[64];
  driver_output(d->port, text, (ErlDrvSizeT)snprintf(text, sizeof text, "%d bytes", (int)ev->size));
}

static void ready_input(ErlDrvData data, ErlDrvEvent event) {
  char bytes[64];
  ssize_t size = read((int)(long)event, bytes, sizeof bytes);
  if (size > 0) driver_output(((Instance*)data)->port, bytes, (ErlDrvSizeT)size);
}

static void process_exit(ErlDrvData data, ErlDrvMonitor* monitor) {
  Instance* d = (Instance*)data;
  int same = driver_compare_monitors(monitor, &d->monitor) == 0;
  driver_output(d->port, same ? "gone" : "other", same ? 4 : 5);
}

static ErlDrvEntry entry = {NULL,
                            start,
                            stop,
                            NULL,
                            ready_input,
                            NULL,
                            "api_drv",
                            NULL,
                            NULL,
                            control,
                            timeout,
                            outputv,
                            NULL,
                            NULL,
                            call,
                            NULL,
                            ERL_DRV_EXTENDED_MARKER,
                            ERL_DRV_EXTENDED_MAJOR_VERSION,
                            ERL_DRV_EXTENDED_MINOR_VERSION,
                            ERL_DRV_FLAG_USE_PORT_LOCKING,
                            NULL,
                            process_exit,
                            stop_select,
                            NULL};

DRIVER_INIT(api_drv) { return &entry; }
