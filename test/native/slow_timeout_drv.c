/* SPDX-License-Identifier: Apache-2.0 */
/* Its timeout, which any control command starts, takes as many milliseconds as the command says. */
#include <erl_driver.h>

#include <time.h>

typedef struct {
  ErlDrvPort port;
  unsigned ms;
} Instance;

static ErlDrvData start(ErlDrvPort port, char* command) {
  Instance* d = driver_alloc(sizeof *d);
  (void)command;
  d->port = port;
  return (ErlDrvData)d;
}

static void stop(ErlDrvData data) { driver_free(data); }

static ErlDrvSSizeT control(ErlDrvData data, unsigned int command, char* bytes, ErlDrvSizeT size,
                            char** answer, ErlDrvSizeT room) {
  Instance* d = (Instance*)data;
  (void)bytes, (void)size, (void)answer, (void)room;
  d->ms = command;
  driver_set_timer(d->port, 0);
  return 0;
}

static void timeout(ErlDrvData data) {
  const struct timespec duration = {0, (long)((Instance*)data)->ms * 1000000};
  nanosleep(&duration, NULL);
}

static ErlDrvEntry entry = {.start = start,
                            .stop = stop,
                            .timeout = timeout,
                            .driver_name = "slow_timeout_drv",
                            .control = control,
                            .extended_marker = (int)ERL_DRV_EXTENDED_MARKER,
                            .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
                            .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
                            .driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING};

DRIVER_INIT(slow_timeout_drv) { return &entry; }
