/* SPDX-License-Identifier: Apache-2.0 */
/* What drivers seldom do: failures that are none, failures while starting and stopping, ports made
   by a port that ends, timers for ever, jobs that look at the queue of a port that is gone. The
   command line says which. */
#include <erl_driver.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int saw_the_end = 0;

typedef struct {
  ErlDrvPort port;
  ErlDrvPDL lock;
} Look;

/* Until the port is gone, and its queue with it. */
static void look_at_queue(void* data) {
  Look* look = data;
  for (;;) {
    int vectors = 0;
    driver_pdl_lock(look->lock);
    saw_the_end =
        driver_sizeq(look->port) == (ErlDrvSizeT)-1 && !driver_peekq(look->port, &vectors) && vectors == -1;
    driver_pdl_unlock(look->lock);
    if (saw_the_end) return;
    usleep(1000);
  }
}

typedef struct {
  ErlDrvPort port;
  ErlDrvTermData owner;
  char what;
} Instance;

static ErlDrvData start(ErlDrvPort port, char* command) {
  const char* space = strchr(command, ' ');
  Instance* d;
  ErlDrvMonitor monitor;
  if (space && !strcmp(space, " monitors and fails")) {
    driver_pdl_create(port);
    driver_enq(port, "data", 4);
    driver_monitor_process(port, driver_caller(port), &monitor);
    errno = EACCES;
    return ERL_DRV_ERROR_ERRNO;
  }
  d = driver_alloc(sizeof *d);
  d->port = port;
  d->owner = driver_connected(port);
  d->what = space ? space[1] : 0;
  return (ErlDrvData)d;
}

static void stop(ErlDrvData data) {
  Instance* d = (Instance*)data;
  if (d->what == 'e') driver_failure_eof(d->port);
  if (d->what == 'c') {
    Instance* late = driver_alloc(sizeof *late);
    late->what = 0;
    late->owner = d->owner;
    late->port = driver_create_port(d->port, d->owner, "late", (ErlDrvData)late);
  }
  driver_free(d);
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned int command, char* bytes, ErlDrvSizeT size,
                            char** answer, ErlDrvSizeT room) {
  Instance* d = (Instance*)data;
  (void)bytes;
  (void)size;
  (void)room;
  if (command == 2) {
    Look* look = driver_alloc(sizeof *look);
    look->port = d->port;
    look->lock = driver_pdl_create(d->port);
    driver_enq(d->port, "!", 1);
    driver_async(d->port, NULL, look_at_queue, look, driver_free);
  }
  if (command == 3) {
    **answer = (char)saw_the_end;
    return 1;
  }
  if (command == 0) driver_failure(d->port, 0);
  if (command == 1) driver_set_timer(d->port, (unsigned long)-1);
  return 0;
}

static void timeout(ErlDrvData data) { driver_output(((Instance*)data)->port, "timeout", 7); }
static void process_exit(ErlDrvData data, ErlDrvMonitor* monitor) {
  (void)data;
  (void)monitor;
}

static ErlDrvEntry entry = {NULL,
                            start,
                            stop,
                            NULL,
                            NULL,
                            NULL,
                            "odd_drv",
                            NULL,
                            NULL,
                            control,
                            timeout,
                            NULL,
                            NULL,
                            NULL,
                            NULL,
                            NULL,
                            ERL_DRV_EXTENDED_MARKER,
                            ERL_DRV_EXTENDED_MAJOR_VERSION,
                            ERL_DRV_EXTENDED_MINOR_VERSION,
                            ERL_DRV_FLAG_USE_PORT_LOCKING,
                            NULL,
                            process_exit,
                            NULL,
                            NULL};

DRIVER_INIT(odd_drv) { return &entry; }
