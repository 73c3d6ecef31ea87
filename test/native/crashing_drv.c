/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that brings the machine down when it is sent data. */
#include <erl_driver.h>

static ErlDrvData start(ErlDrvPort port, char* command) {
  (void)command;
  return (ErlDrvData)port;
}

static void output(ErlDrvData data, char* bytes, ErlDrvSizeT size) {
  (void)data;
  (void)bytes;
  (void)size;
  *(volatile char*)0 = 1;
}

static ErlDrvEntry entry = {NULL,
                            start,
                            NULL,
                            output,
                            NULL,
                            NULL,
                            "crashing_drv",
                            NULL,
                            NULL,
                            NULL,
                            NULL,
                            NULL,
                            NULL,
                            NULL,
                            NULL,
                            NULL,
                            ERL_DRV_EXTENDED_MARKER,
                            ERL_DRV_EXTENDED_MAJOR_VERSION,
                            ERL_DRV_EXTENDED_MINOR_VERSION,
                            0,
                            NULL,
                            NULL,
                            NULL,
                            NULL};

DRIVER_INIT(crashing_drv) { return &entry; }
