// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/attach_protocol.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace vmrun::d;

TEST_CASE("who says hello is told why it is refused") {
  CHECK(refusal(kWireVersion, true).empty());
  CHECK(refusal(kWireVersion, false).find("its probes are compiled out") == 0);
  CHECK(refusal(kWireVersion + 1, true).find("version") != std::string_view::npos);
}

TEST_CASE("a descriptor goes along with its message, and is closed where it was") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  Channel machine(ends[0], Channel::Descriptors::kRefused), vmtrace(ends[1], Channel::Descriptors::kTaken);
  const int file = memfd_create("passed", MFD_CLOEXEC);
  REQUIRE(write(file, "mine", 4) == 4);
  machine.send(Message::kDrops, "before");
  machine.send(Message::kRing, "ring", file);
  CHECK(fcntl(file, F_GETFD) == -1);
  REQUIRE(vmtrace.fill());
  Channel::Received received;
  REQUIRE(vmtrace.take(received));
  CHECK(received.passed == -1);
  REQUIRE(vmtrace.take(received));
  REQUIRE(received.passed >= 0);
  char text[4];
  CHECK(pread(received.passed, text, 4, 0) == 4);
  CHECK(std::string_view(text, 4) == "mine");
  close(received.passed);
}
