/* SPDX-License-Identifier: Apache-2.0 */
/* Becomes busy while commands are queued, and says what it has taken. A command that begins with
     'w'  tells the owner "in", waits until another port is told to go, and is busy then
     'n'  is not busy any more
     's'  shows what has been taken
   others are taken. Control: go. What has been taken is shown once more when it stops. */
#include <erl_driver.h>

#include <string.h>
#include <unistd.h>

typedef struct {
  ErlDrvPort port;
  ErlDrvSizeT size;
  char taken[64];
} Instance;

static int go[2];

static int init(void) { return pipe(go); }
static void finish(void) {
  close(go[0]);
  close(go[1]);
}

static ErlDrvData start(ErlDrvPort port, char* command) {
  Instance* d = driver_alloc(sizeof *d);
  (void)command;
  d->port = port;
  d->size = 0;
  return (ErlDrvData)d;
}

static void show(Instance* d) { driver_output(d->port, d->taken, d->size); }

static void stop(ErlDrvData data) {
  show((Instance*)data);
  driver_free(data);
}

static void wait_for_go(Instance* d) {
  char byte;
  driver_output(d->port, "in", 2);
  if (read(go[0], &byte, 1) == 1) set_busy_port(d->port, 1);
}

static void output(ErlDrvData data, char* bytes, ErlDrvSizeT size) {
  Instance* d = (Instance*)data;
  switch (bytes[0]) {
    case 'w': wait_for_go(d); break;
    case 'n': set_busy_port(d->port, 0); break;
    case 's': show(d); break;
    default: memcpy(d->taken + d->size, bytes, size), d->size += size;
  }
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned int command, char* bytes, ErlDrvSizeT size,
                            char** answer, ErlDrvSizeT room) {
  (void)data, (void)command, (void)bytes, (void)size, (void)answer, (void)room;
  return write(go[1], "g", 1) == 1 ? 0 : -1;
}

static ErlDrvEntry entry = {.init = init,
                            .start = start,
                            .stop = stop,
                            .output = output,
                            .driver_name = "busy_turn_drv",
                            .finish = finish,
                            .control = control,
                            .extended_marker = (int)ERL_DRV_EXTENDED_MARKER,
                            .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
                            .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
                            .driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING | ERL_DRV_FLAG_SOFT_BUSY};

DRIVER_INIT(busy_turn_drv) { return &entry; }
