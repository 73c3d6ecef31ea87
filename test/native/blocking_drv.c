/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from pipes that block: it must be told of input only when there is some. Each
   control command puts a byte into the pipe; what is read comes back as a message. */
#include <erl_driver.h>

#include <errno.h>
#include <unistd.h>

typedef struct {
  ErlDrvPort port;
  int pipe[2];
} Instance;

static ErlDrvEvent event_of(int fd) { return (ErlDrvEvent)(long)fd; }

static ErlDrvData start(ErlDrvPort port, char* command) {
  Instance* d = driver_alloc(sizeof *d);
  (void)command;
  d->port = port;
  if (pipe(d->pipe) != 0) return ERL_DRV_ERROR_ERRNO;
  driver_select(port, event_of(d->pipe[0]), ERL_DRV_READ | ERL_DRV_USE, 1);
  return (ErlDrvData)d;
}

static void stop(ErlDrvData data) {
  Instance* d = (Instance*)data;
  close(d->pipe[1]);
  driver_select(d->port, event_of(d->pipe[0]), ERL_DRV_READ | ERL_DRV_USE, 0);
  driver_free(data);
}

static void stop_select(ErlDrvEvent event, void* reserved) {
  (void)reserved;
  close((int)(long)event);
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned int command, char* bytes, ErlDrvSizeT size,
                            char** answer, ErlDrvSizeT room) {
  char byte = (char)command;
  (void)bytes, (void)size, (void)answer, (void)room;
  return write(((Instance*)data)->pipe[1], &byte, 1) == 1 ? 0 : -1;
}

static void ready_input(ErlDrvData data, ErlDrvEvent event) {
  char byte;
  if (read((int)(long)event, &byte, 1) == 1) driver_output(((Instance*)data)->port, &byte, 1);
}

static ErlDrvEntry entry = {.start = start,
                            .stop = stop,
                            .ready_input = ready_input,
                            .driver_name = "blocking_drv",
                            .control = control,
                            .extended_marker = (int)ERL_DRV_EXTENDED_MARKER,
                            .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
                            .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
                            .driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING,
                            .stop_select = stop_select};

DRIVER_INIT(blocking_drv) { return &entry; }
