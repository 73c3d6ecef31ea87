/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that selects for reading a descriptor whose number it is told, and sends its owner
   what it reads there. */
#include <erl_driver.h>
#include <stdlib.h>
#include <unistd.h>

static ErlDrvData start(ErlDrvPort port, char* command) {
  (void)command;
  set_port_control_flags(port, 0);
  return (ErlDrvData)port;
}

static void ready_input(ErlDrvData data, ErlDrvEvent event) {
  char bytes[64];
  const ssize_t n = read((int)(ErlDrvSInt)event, bytes, sizeof bytes);
  driver_select((ErlDrvPort)data, event, ERL_DRV_READ, 0);
  if (n > 0) driver_output((ErlDrvPort)data, bytes, (ErlDrvSizeT)n);
}

/* port_control(Port, 1 to select or 0 to give up, "7\0") */
static ErlDrvSSizeT control(ErlDrvData data, unsigned command, char* number, ErlDrvSizeT size, char** answer,
                            ErlDrvSizeT room) {
  const ErlDrvEvent event = (ErlDrvEvent)(ErlDrvSInt)atoi(number);
  (void)size, (void)room;
  **answer = driver_select((ErlDrvPort)data, event, ERL_DRV_READ, (int)command) == 0 ? 'k' : 'e';
  return 1;
}

static ErlDrvEntry entry = {.start = start,
                            .ready_input = ready_input,
                            .driver_name = "taker_drv",
                            .control = control,
                            .extended_marker = ERL_DRV_EXTENDED_MARKER,
                            .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
                            .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION};

DRIVER_INIT(taker_drv) { return &entry; }
