// SPDX-License-Identifier: Apache-2.0
// The queue of a port: by itself, and as drivers see it.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include "vm/base/release.hpp"
#include "vm/port/driver_api.hpp"

using namespace vmrun;

namespace {

std::string contents(IoQueue& queue) {
  std::size_t count;
  const iovec* vectors = queue.vectors(&count);
  std::string all;
  for (std::size_t i = 0; i < count; ++i)
    all.append(static_cast<const char*>(vectors[i].iov_base), vectors[i].iov_len);
  return all;
}

Binary* binary(const char* text) {
  Binary* b = Binary::create(std::strlen(text));
  std::memcpy(b->data, text, std::strlen(text));
  return b;
}

struct Vector {
  SysIOVec pieces[3];
  ErlDrvBinary* binaries[3];
  ErlIOVec vector;

  Vector(Binary* first, const char* second) {
    pieces[0] = {nullptr, 0};
    pieces[1] = {driver_binary(first)->orig_bytes, first->used_bytes};
    pieces[2] = {const_cast<char*>(second), std::strlen(second)};
    binaries[0] = binaries[2] = nullptr;
    binaries[1] = driver_binary(first);
    vector = {3, pieces[1].iov_len + pieces[2].iov_len, pieces, binaries};
  }
};

}  // namespace

TEST_CASE("bytes and parts of binaries, at both ends") {
  IoQueue queue;
  Binary* b = binary("0123456789");
  queue.append("cd", 2);
  queue.prepend("ab", 2);
  queue.append(b, 2, 3);
  queue.prepend(b, 9, 1);
  queue.append("", 0);
  CHECK(queue.size() == 8);
  CHECK(contents(queue) == "9abcd234");
  CHECK(b->references.load() == 3);
  CHECK(queue.consume(2) == 6);
  CHECK(contents(queue) == "bcd234");
  CHECK(queue.consume(4) == 2);
  CHECK(contents(queue) == "34");
  CHECK(queue.consume(100) == 0);
  CHECK(queue.empty());
  CHECK(b->references.load() == 1);
  b->release();
}

TEST_CASE("many small pieces become few vectors") {
  IoQueue queue;
  std::string all;
  for (int i = 0; i < 10000; ++i) {
    const std::string piece = std::to_string(i);
    queue.append(piece.data(), piece.size());
    all += piece;
  }
  std::size_t count;
  queue.vectors(&count);
  CHECK(count < 20);
  CHECK(contents(queue) == all);
  queue.consume(20000);
  Binary* b = binary("behind");
  queue.append(b, 0, 6);
  queue.append("!", 1);
  b->release();
  CHECK(contents(queue) == all.substr(20000) + "behind!");
  queue.clear();
  queue.append("again", 5);
  CHECK(contents(queue) == "again");
}

TEST_CASE("the binaries behind the vectors are the ones that drivers gave") {
  IoQueue queue;
  Binary* b = binary("shared");
  queue.append(b, 1, 2);
  CHECK(queue.binaries()[0] == driver_binary(b));
  queue.clear();
  CHECK(b->references.load() == 1);
  b->release();
}

namespace {

/// Vectors that moved while a queue of n parts was peeked at and taken away two parts at a time,
/// and while as many came in front of it.
std::size_t moved(std::size_t n) {
  IoQueue queue;
  Binary* b = binary("0123456789");
  std::size_t count = 0, moves = 0;
  const iovec* seen = nullptr;
  const auto look = [&](std::ptrdiff_t step) {
    const std::size_t before = count;
    const iovec* now = queue.vectors(&count);
    if (seen && now != seen + step) moves += std::min(before, count);
    seen = now;
  };
  for (std::size_t i = 0; i < n; ++i) queue.append(b, i % 2 * 5, 3);
  look(0);
  while (queue.size() > 6) {
    queue.consume(6);
    look(2);
  }
  for (std::size_t i = 0; i < n; ++i) {
    queue.prepend(b, i % 2 * 5, 3);
    look(-1);
  }
  queue.clear();
  b->release();
  return moves;
}

}  // namespace

TEST_CASE("a long queue is taken away in parts, and grows at its front, at a cost that is its length") {
  for (const std::size_t n : {1000, 2000, 4000, 8000}) CHECK(moved(n) < 4 * n);
}

TEST_CASE("vectors go to either end of a port's queue, with bytes to skip") {
  Port port;
  const ErlDrvPort p = driver_port(port);
  Binary* b = binary("0123");
  Vector v(b, "xyz");
  CHECK(driver_enqv(p, &v.vector, 0) == 0);
  CHECK(contents(port.queue) == "0123xyz");
  CHECK(driver_pushqv(p, &v.vector, 0) == 0);
  CHECK(contents(port.queue) == "0123xyz0123xyz");
  for (ErlDrvSizeT skip = 0; skip <= v.vector.size; ++skip) {
    driver_deq(p, driver_sizeq(p));
    driver_enq(p, const_cast<char*>("|"), 1);
    CHECK(driver_pushqv(p, &v.vector, skip) == 0);
    CHECK(driver_enqv(p, &v.vector, skip) == 0);
    const std::string part = std::string("0123xyz").substr(skip);
    CHECK(contents(port.queue) == part + "|" + part);
    CHECK(driver_sizeq(p) == 2 * part.size() + 1);
  }
  CHECK(driver_enqv(p, &v.vector, v.vector.size + 1) == -1);
  CHECK(driver_deq(p, 1000) == static_cast<ErlDrvSizeT>(-1));
  ErlIOVec seen;
  CHECK(driver_peekqv(p, &seen) == 1);
  CHECK(seen.vsize == 1);
  char bytes[4];
  CHECK(driver_vec_to_buf(&v.vector, bytes, 4) == 4);
  CHECK(std::string(bytes, 4) == "0123");
  port.queue.clear();
  CHECK(b->references.load() == 1);
  b->release();
}

TEST_CASE("a driver binary that is shared is copied when it changes its size") {
  ErlDrvBinary* bin = driver_alloc_binary(3);
  std::memcpy(bin->orig_bytes, "abc", 3);
  driver_binary_inc_refc(bin);
  ErlDrvBinary* larger = driver_realloc_binary(bin, 5);
  CHECK(larger != bin);
  CHECK(larger->orig_size == 5);
  CHECK(bin->orig_size == 3);
  CHECK(std::memcmp(larger->orig_bytes, "abc", 3) == 0);
  CHECK(driver_binary_get_refc(bin) == 1);
  driver_free_binary(bin);
  driver_free_binary(larger);
}

TEST_CASE("errno values have the names of the file documentation") {
  CHECK(std::string(errno_name(ENOENT)) == "enoent");
  CHECK(std::string(errno_name(EWOULDBLOCK)) == "eagain");
  CHECK(std::string(errno_name(0)) == "unknown");
  CHECK(std::string(errno_name(-1)) == "unknown");
  CHECK(std::string(errno_name(100000)) == "unknown");
}

TEST_CASE("errno values without a name have their number since OTP 29") {
  use_release(29, true);
  CHECK(std::string(errno_name(ENOENT)) == "enoent");
  CHECK(std::string(errno_name(0)) == "errno_0");
  CHECK(std::string(errno_name(200)) == "errno_200");
  const char* name = errno_name(-4711);
  CHECK(std::string(errno_name(4711)) == "errno_4711");
  CHECK(std::string(name) == "errno_-4711");
  CHECK(errno_name(-4711) == name);
  use_release(27, true);
  CHECK(std::string(errno_name(4711)) == "unknown");
  use_release(kNewestRelease, false);
}
