/* SPDX-License-Identifier: Apache-2.0 */
/* A sample driver: a counter. It shows what most drivers need: an instance per port,
   port_control/3, output, a timer, a descriptor that is waited for, monitors,
   terms sent to the owner. docs/drivers.md walks through it.

   port_command(Port, Data)             adds the size of Data
   port_control(Port, 0, _)             the count, as <<N:64>>
   port_control(Port, 1, <<N:32>>)      adds N; answers the count
   port_control(Port, 2, <<Ms:32>>)     adds one every Ms milliseconds (0: no longer) and tells the
                                        owner {counter, Port, Count}
   port_control(Port, 3, _)             the caller is watched: when it ends, the owner gets {gone,
                                        Port, Pid}
   port_control(Port, 4, _)             from now on data goes through a pipe and comes back as
                                        {Port, {data, Data}} */
#include <erl_driver.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { GET, ADD, TICK, WATCH, LOOP };

typedef struct {
  ErlDrvPort port;
  ErlDrvUInt64 count;
  unsigned long tick_ms; /* 0: the timer is off */
  int pipe[2];           /* -1: no pipe */
} Counter;

static ErlDrvTermData atom_counter, atom_gone;

static int counter_init(void) {
  atom_counter = driver_mk_atom("counter");
  atom_gone = driver_mk_atom("gone");
  return 0;
}

static ErlDrvData counter_start(ErlDrvPort port, char* command) {
  Counter* c = driver_alloc(sizeof *c);
  if (!c) return ERL_DRV_ERROR_GENERAL;
  c->port = port;
  c->count = 0;
  c->tick_ms = 0;
  c->pipe[0] = c->pipe[1] = -1;
  set_port_control_flags(port, PORT_CONTROL_FLAG_BINARY);
  (void)command;
  return (ErlDrvData)c;
}

static ErlDrvEvent event_of(int fd) { return (ErlDrvEvent)(long)fd; }

static void counter_stop(ErlDrvData data) {
  Counter* c = (Counter*)data;
  if (c->pipe[0] >= 0) {
    /* The descriptors are closed in stop_select, when they are no longer polled. */
    driver_select(c->port, event_of(c->pipe[0]), ERL_DRV_READ | ERL_DRV_USE, 0);
    driver_select(c->port, event_of(c->pipe[1]), ERL_DRV_WRITE | ERL_DRV_USE, 0);
  }
  driver_free(c);
}

static void counter_stop_select(ErlDrvEvent event, void* reserved) {
  (void)reserved;
  close((int)(long)event);
}

/* Writes what the queue holds; what the pipe does not take waits for ready_output. */
static void write_queue(Counter* c) {
  while (driver_sizeq(c->port) > 0) {
    int count;
    SysIOVec* vectors = driver_peekq(c->port, &count);
    ssize_t written = writev(c->pipe[1], (struct iovec*)vectors, count < 16 ? count : 16);
    if (written < 0 && errno == EAGAIN) {
      driver_select(c->port, event_of(c->pipe[1]), ERL_DRV_WRITE | ERL_DRV_USE, 1);
      return;
    }
    if (written < 0) {
      driver_failure_posix(c->port, errno);
      return;
    }
    driver_deq(c->port, (ErlDrvSizeT)written);
  }
  driver_select(c->port, event_of(c->pipe[1]), ERL_DRV_WRITE, 0);
}

static void counter_output(ErlDrvData data, char* bytes, ErlDrvSizeT size) {
  Counter* c = (Counter*)data;
  c->count += size;
  if (c->pipe[1] < 0) return;
  driver_enq(c->port, bytes, size);
  write_queue(c);
}

static void counter_ready_output(ErlDrvData data, ErlDrvEvent event) {
  (void)event;
  write_queue((Counter*)data);
}

static void counter_ready_input(ErlDrvData data, ErlDrvEvent event) {
  Counter* c = (Counter*)data;
  char bytes[4096];
  ssize_t size = read((int)(long)event, bytes, sizeof bytes);
  if (size > 0) driver_output(c->port, bytes, (ErlDrvSizeT)size);
}

static int open_loop(Counter* c) {
  if (c->pipe[0] >= 0) return 0;
  if (pipe(c->pipe) < 0) return errno;
  fcntl(c->pipe[0], F_SETFL, O_NONBLOCK);
  fcntl(c->pipe[1], F_SETFL, O_NONBLOCK);
  driver_select(c->port, event_of(c->pipe[0]), ERL_DRV_READ | ERL_DRV_USE, 1);
  driver_select(c->port, event_of(c->pipe[1]), ERL_DRV_USE, 1);
  return 0;
}

static unsigned long number(const char* bytes, ErlDrvSizeT size) {
  unsigned long n = 0;
  ErlDrvSizeT i;
  for (i = 0; i < size && i < 4; ++i) n = n << 8 | (unsigned char)bytes[i];
  return n;
}

static ErlDrvSSizeT counter_control(ErlDrvData data, unsigned int command, char* bytes, ErlDrvSizeT size,
                                    char** answer, ErlDrvSizeT answer_size) {
  Counter* c = (Counter*)data;
  ErlDrvMonitor monitor;
  ErlDrvBinary* bin;
  int i;
  (void)answer_size; /* With PORT_CONTROL_FLAG_BINARY the answer is a binary of our own. */
  switch (command) {
    case GET: break;
    case ADD: c->count += number(bytes, size); break;
    case TICK:
      c->tick_ms = number(bytes, size);
      if (c->tick_ms) driver_set_timer(c->port, c->tick_ms);
      else driver_cancel_timer(c->port);
      break;
    case WATCH: driver_monitor_process(c->port, driver_caller(c->port), &monitor); break;
    case LOOP:
      if (open_loop(c)) return -1;
      break;
    default: return -1; /* badarg */
  }
  bin = driver_alloc_binary(8);
  for (i = 0; i < 8; ++i) bin->orig_bytes[i] = (char)(c->count >> (56 - 8 * i));
  *answer = (char*)bin;
  return 8;
}

static void counter_timeout(ErlDrvData data) {
  Counter* c = (Counter*)data;
  ErlDrvTermData port = driver_mk_port(c->port);
  ++c->count;
  {
    ErlDrvTermData message[] = {ERL_DRV_ATOM,   atom_counter,
                                ERL_DRV_PORT,   port,
                                ERL_DRV_UINT64, (ErlDrvTermData)&c->count,
                                ERL_DRV_TUPLE,  3};
    erl_drv_output_term(port, message, sizeof message / sizeof message[0]);
  }
  driver_set_timer(c->port, c->tick_ms);
}

static void counter_process_exit(ErlDrvData data, ErlDrvMonitor* monitor) {
  Counter* c = (Counter*)data;
  ErlDrvTermData port = driver_mk_port(c->port), pid = driver_get_monitored_process(c->port, monitor);
  ErlDrvTermData message[] = {ERL_DRV_ATOM, atom_gone, ERL_DRV_PORT,  port,
                              ERL_DRV_PID,  pid,       ERL_DRV_TUPLE, 3};
  erl_drv_output_term(port, message, sizeof message / sizeof message[0]);
}

static void counter_flush(ErlDrvData data) {
  (void)data; /* The queue is written as the pipe takes it; the port closes when it is empty. */
}

static ErlDrvEntry counter_entry = {
    counter_init,
    counter_start,
    counter_stop,
    counter_output,
    counter_ready_input,
    counter_ready_output,
    "counter_drv",
    NULL, /* finish */
    NULL, /* handle */
    counter_control,
    counter_timeout,
    NULL, /* outputv */
    NULL, /* ready_async */
    counter_flush,
    NULL, /* call */
    NULL, /* event */
    ERL_DRV_EXTENDED_MARKER,
    ERL_DRV_EXTENDED_MAJOR_VERSION,
    ERL_DRV_EXTENDED_MINOR_VERSION,
    ERL_DRV_FLAG_USE_PORT_LOCKING,
    NULL, /* handle2 */
    counter_process_exit,
    counter_stop_select,
    NULL /* emergency_close */
};

DRIVER_INIT(counter_drv) { return &counter_entry; }
