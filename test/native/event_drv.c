/* SPDX-License-Identifier: Apache-2.0 */
/* The classic event callback, which OTP calls no more: driver_event on a pipe; what poll(2) said is
   sent to the owner as a digit. */
#include <erl_driver.h>

#include <unistd.h>

#ifdef VMRUN_DRIVER_EVENT
typedef struct {
  ErlDrvPort port;
  int pipe[2];
  struct erl_drv_event_data waits;
} Events;

static ErlDrvEvent event_of(int fd) { return (ErlDrvEvent)(long)fd; }

static ErlDrvData event_start(ErlDrvPort port, char* command) {
  Events* e = driver_alloc(sizeof *e);
  (void)command;
  e->port = port;
  e->waits.events = 1; /* POLLIN */
  if (pipe(e->pipe)) return ERL_DRV_ERROR_ERRNO;
  driver_event(port, event_of(e->pipe[0]), &e->waits);
  return (ErlDrvData)e;
}

static void event_stop(ErlDrvData data) {
  Events* e = (Events*)data;
  driver_event(e->port, event_of(e->pipe[0]), NULL);
  close(e->pipe[0]);
  close(e->pipe[1]);
  driver_free(e);
}

static void event_output(ErlDrvData data, char* bytes, ErlDrvSizeT size) {
  if (write(((Events*)data)->pipe[1], bytes, size) < 0) driver_failure_eof(((Events*)data)->port);
}

static void event_event(ErlDrvData data, ErlDrvEvent event, ErlDrvEventData what) {
  char byte, digit = (char)('0' + what->revents);
  if (read((int)(long)event, &byte, 1) == 1) driver_output(((Events*)data)->port, &digit, 1);
}
#endif

static ErlDrvEntry entry = {
#ifdef VMRUN_DRIVER_EVENT
    .start = event_start,
    .stop = event_stop,
    .output = event_output,
    .event = event_event,
#endif
    .driver_name = "event_drv",
    .extended_marker = ERL_DRV_EXTENDED_MARKER,
    .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
    .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
};

DRIVER_INIT(event_drv) { return &entry; }
