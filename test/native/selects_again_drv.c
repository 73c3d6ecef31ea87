/* SPDX-License-Identifier: Apache-2.0 */
/* A driver without output that selects one descriptor number for different files, without saying
   when it closes one. */
#include <erl_driver.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static ErlDrvPort port;
static int fd = -1, writing = -1, stopped = 0;

static ErlDrvEvent event(void) { return (ErlDrvEvent)(ErlDrvSInt)fd; }

static ErlDrvData start(ErlDrvPort p, char* command) {
  (void)command;
  port = p;
  set_port_control_flags(p, 0);
  return (ErlDrvData)p;
}

static void tell(const char* text) { driver_output(port, (char*)text, strlen(text)); }

static void ready_output(ErlDrvData data, ErlDrvEvent e) {
  (void)data, (void)e;
  driver_select(port, event(), ERL_DRV_WRITE, 0);
  tell("may be written");
}

static void ready_input(ErlDrvData data, ErlDrvEvent e) {
  char byte;
  (void)data, (void)e;
  tell(read(fd, &byte, 1) == 1 ? "a byte" : "nothing");
}

static void stop_select(ErlDrvEvent e, void* reserved) {
  (void)e, (void)reserved;
  stopped = 1;
  close(fd);
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned command, char* bytes, ErlDrvSizeT size, char** answer,
                            ErlDrvSizeT most) {
  int ends[2];
  (void)data, (void)bytes, (void)size, (void)most;
  (*answer)[0] = 'k';
  switch (command) {
    case 'n': /* nothing that can be waited for */
      fd = open("/dev/null", O_WRONLY);
      if (driver_select(port, event(), ERL_DRV_WRITE, 1) != 0) return 0;
      return 1;
    case 'p': /* the same number is a pipe with nothing in it */
      if (pipe(ends) != 0) return 0;
      writing = ends[1];
      dup2(ends[0], fd);
      close(ends[0]);
      fcntl(fd, F_SETFL, O_NONBLOCK);
      if (driver_select(port, event(), ERL_DRV_READ | ERL_DRV_USE, 1) != 0) return 0;
      return 1;
    case 'w': return write(writing, "x", 1);
    case 'u': /* not used any more, whatever it is selected for */
      driver_select(port, event(), ERL_DRV_USE, 0);
      return 1;
    case 's': (*answer)[0] = stopped ? 'y' : 'n'; return 1;
    case 'c': erl_drv_consume_timeslice(port, 10); return 1;
    default: return 0;
  }
}

static ErlDrvEntry entry = {.start = start,
                            .ready_input = ready_input,
                            .ready_output = ready_output,
                            .driver_name = "selects_again_drv",
                            .control = control,
                            .stop_select = stop_select,
                            .extended_marker = (int)ERL_DRV_EXTENDED_MARKER,
                            .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
                            .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION};

DRIVER_INIT(selects_again_drv) { return &entry; }
