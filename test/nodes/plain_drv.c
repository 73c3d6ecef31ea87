/* SPDX-License-Identifier: Apache-2.0 */
/* A distribution driver whose entry has output and no outputv: packets with a length of four bytes,
 * over a duplicate of the connected descriptor that the name of the port tells. It begins to read
 * when it is told to, by a control that gives what has been read already. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "erl_driver.h"

enum { MOST_QUEUED = 65536, READ_AT_ONCE = 65536 };

typedef struct {
  ErlDrvPort port;
  int fd;
  size_t have, room;
  char* input; /* packets, the last one in part */
} Connection;

static ErlDrvEvent event_of(const Connection* c) { return (ErlDrvEvent)(intptr_t)c->fd; }

static ErlDrvData start(ErlDrvPort port, char* command) {
  const char* number = strchr(command, ' ');
  int fd = number ? dup(atoi(number)) : -1;
  if (fd < 0) return ERL_DRV_ERROR_BADARG;
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  Connection* c = driver_alloc(sizeof *c);
  *c = (Connection){.port = port, .fd = fd, .room = READ_AT_ONCE, .input = driver_alloc(READ_AT_ONCE)};
  return (ErlDrvData)c;
}

static void stop(ErlDrvData data) {
  Connection* c = (Connection*)data;
  driver_select(c->port, event_of(c), ERL_DRV_READ | ERL_DRV_WRITE | ERL_DRV_USE, 0);
  driver_free(c->input);
  driver_free(c);
}

static void stop_select(ErlDrvEvent event, void* reserved) {
  (void)reserved;
  close((int)(intptr_t)event);
}

/* Who is killed with packets unread resets the connection: its end, as for inet_drv. */
static void lost(Connection* c, int error) {
  if (error == ECONNRESET || error == EPIPE) driver_failure_eof(c->port);
  else if (error != EAGAIN && error != EINTR) driver_failure_posix(c->port, error);
}

static void output(ErlDrvData data, char* bytes, ErlDrvSizeT size) {
  Connection* c = (Connection*)data;
  uint32_t length = htonl((uint32_t)size);
  int idle = driver_sizeq(c->port) == 0;
  driver_enq(c->port, (char*)&length, sizeof length);
  driver_enq(c->port, bytes, size);
  if (idle) driver_select(c->port, event_of(c), ERL_DRV_WRITE | ERL_DRV_USE, 1);
  if (driver_sizeq(c->port) >= MOST_QUEUED) set_busy_port(c->port, 1);
}

static void ready_output(ErlDrvData data, ErlDrvEvent event) {
  Connection* c = (Connection*)data;
  int count;
  SysIOVec* pieces = driver_peekq(c->port, &count);
  if (pieces) {
    ssize_t n = writev(c->fd, (struct iovec*)pieces, count < 16 ? count : 16);
    if (n < 0) {
      lost(c, errno);
      return;
    }
    if (n > 0) driver_deq(c->port, (ErlDrvSizeT)n);
  }
  if (driver_sizeq(c->port) < MOST_QUEUED / 2) set_busy_port(c->port, 0);
  if (driver_sizeq(c->port) == 0) driver_select(c->port, event, ERL_DRV_WRITE, 0);
}

static void deliver(Connection* c) {
  size_t at = 0;
  uint32_t length;
  while (c->have - at >= sizeof length) {
    memcpy(&length, c->input + at, sizeof length);
    length = ntohl(length);
    if (c->have - at - sizeof length < length) break;
    driver_output(c->port, c->input + at + sizeof length, length);
    at += sizeof length + length;
  }
  memmove(c->input, c->input + at, c->have -= at);
}

static char* room(Connection* c, size_t size) {
  if (c->room - c->have < size) c->input = driver_realloc(c->input, c->room = c->have + size);
  return c->input + c->have;
}

static void ready_input(ErlDrvData data, ErlDrvEvent event) {
  Connection* c = (Connection*)data;
  (void)event;
  ssize_t n = read(c->fd, room(c, READ_AT_ONCE), READ_AT_ONCE);
  if (n == 0) driver_failure_eof(c->port);
  else if (n > 0) {
    c->have += (size_t)n;
    deliver(c);
  } else lost(c, errno);
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned command, char* bytes, ErlDrvSizeT size, char** answer,
                            ErlDrvSizeT most) {
  Connection* c = (Connection*)data;
  (void)command, (void)answer, (void)most;
  memcpy(room(c, size), bytes, size);
  c->have += size;
  deliver(c);
  driver_select(c->port, event_of(c), ERL_DRV_READ | ERL_DRV_USE, 1);
  return 0;
}

static ErlDrvEntry entry = {
    .start = start,
    .stop = stop,
    .output = output,
    .ready_input = ready_input,
    .ready_output = ready_output,
    .driver_name = "plain_drv",
    .control = control,
    .stop_select = stop_select,
    .extended_marker = (int)ERL_DRV_EXTENDED_MARKER,
    .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
    .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
    .driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING | ERL_DRV_FLAG_SOFT_BUSY,
};

DRIVER_INIT(plain_drv) { return &entry; }
