/* SPDX-License-Identifier: Apache-2.0 */
// A node in C (ei of erl_interface): sends to the registered process echo of the node it is told,
// and calls a function there. Without a node it waits for one to connect, and takes messages until
// that node is gone; anything else fails. usage: c_node COOKIE [NODE]
#include <ei.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char* what) {
  fprintf(stderr, "%s: %d\n", what, erl_errno);
  exit(1);
}

static int serve(ei_cnode* node) {
  int port = 0;
  int listening = ei_listen(node, &port, 5);
  if (listening < 0) fail("listen");
  if (ei_publish(node, port) < 0) fail("publish");
  printf("listens\n");
  fflush(stdout);

  ErlConnect peer;
  int fd = ei_accept(node, listening, &peer);
  if (fd < 0) fail("accept");
  for (;;) {
    erlang_msg message;
    ei_x_buff x;
    ei_x_new(&x);
    int got = ei_xreceive_msg(fd, &message, &x);
    ei_x_free(&x);
    if (got == ERL_TICK) continue;
    if (got != ERL_MSG) break;
    if (message.msgtype != ERL_SEND && message.msgtype != ERL_REG_SEND) fail("no message");
  }
  printf("left\n");
  return 0;
}

int main(int argc, char** argv) {
  ei_cnode node;
  struct in_addr loopback = {htonl(INADDR_LOOPBACK)};
  ei_init();
  if ((argc != 2 && argc != 3) ||
      ei_connect_xinit(&node, "localhost", "c_node", "c_node@localhost", &loopback, argv[1], 1) < 0)
    fail("init");
  if (argc == 2) return serve(&node);
  int fd = ei_connect(&node, argv[2]);
  if (fd < 0) fail("connect");

  ei_x_buff x;
  ei_x_new_with_version(&x);
  ei_x_encode_tuple_header(&x, 2);
  ei_x_encode_pid(&x, ei_self(&node));
  ei_x_encode_string(&x, "hello");
  if (ei_reg_send(&node, fd, "echo", x.buff, x.index) < 0) fail("send");
  ei_x_free(&x);

  erlang_msg message;
  int got;
  ei_x_new(&x);
  while ((got = ei_xreceive_msg(fd, &message, &x)) == ERL_TICK) {}
  int at = 0, version, arity;
  erlang_pid from;
  char text[16];
  if (got != ERL_MSG || message.msgtype != ERL_SEND || ei_decode_version(x.buff, &at, &version) ||
      ei_decode_tuple_header(x.buff, &at, &arity) || arity != 2 || ei_decode_pid(x.buff, &at, &from) ||
      ei_decode_string(x.buff, &at, text) || strcmp(text, "hello"))
    fail("answer");
  printf("echoed\n");
  ei_x_free(&x);

  ei_x_buff arguments, result;
  ei_x_new(&arguments);
  ei_x_encode_list_header(&arguments, 1);
  ei_x_encode_string(&arguments, "\1\2\3");
  ei_x_encode_empty_list(&arguments);
  ei_x_new(&result);
  if (ei_rpc(&node, fd, "lists", "sum", arguments.buff, arguments.index, &result) < 0) fail("rpc");
  long sum;
  at = 0;
  if (ei_decode_long(result.buff, &at, &sum)) fail("result");
  printf("called: %ld\n", sum);
  return 0;
}
