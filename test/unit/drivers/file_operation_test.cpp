// SPDX-License-Identifier: Apache-2.0
// Operations of the file driver, run as a worker runs them, without a port.
#include "drivers/efile/file_operation.hpp"

#include <catch2/catch.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <unistd.h>

using namespace vmrun::efile;

namespace {

/// A file with contents, that goes away with the test.
struct TestFile {
  std::string path;
  File file;
  explicit TestFile(const std::string& text, unsigned flags = kModeRead | kModeWrite) {
    char name[] = "/tmp/vmrun-operation-test-XXXXXX";
    const int fd = ::mkstemp(name);
    path = name;
    REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(fd);
    REQUIRE(open_file(name, flags, &file) == 0);
  }
  ~TestFile() {
    close_file(file);
    std::filesystem::remove(path);
  }
  std::int64_t position() {
    std::int64_t n = -1;
    CHECK(seek(file, 0, 1, &n) == 0);
    return n;
  }
};

std::unique_ptr<Operation> make(TestFile& f, Command command, std::uint64_t size = 0) {
  auto op = std::make_unique<Operation>();
  op->request.command = command;
  op->request.size = size;
  op->file = f.file;
  return op;
}

std::string result(const Operation& op) { return op.result ? std::string(op.result.bytes(), op.done) : ""; }

/// Runs all parts; returns how many.
int run_all(Operation& op) {
  int parts = 0;
  do {
    run(op);
    ++parts;
  } while (op.again && !op.error);
  return parts;
}

/// One READ or READ_LINE after the other with one buffer, as a port has it. "eof" at the end.
struct Reader {
  TestFile& f;
  std::size_t read_ahead;
  ReadBuffer buffer{};
  bool in_pieces = false;
  std::string next(Command command, std::uint64_t size = 0) {
    auto op = make(f, command, size);
    op->read_ahead = read_ahead;
    op->in_pieces = in_pieces;
    op->buffer = std::move(buffer);
    run_all(*op);
    buffer = std::move(op->buffer);
    CHECK(op->error == 0);
    return op->end_of_file ? "eof" : result(*op);
  }
};

std::string pattern(std::size_t size) {
  std::string text(size, 0);
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  return text;
}

}  // namespace

TEST_CASE("READ") {
  TestFile f("0123456789");
  auto op = make(f, Command::kRead, 4);
  CHECK(run_all(*op) == 1);
  CHECK(result(*op) == "0123");
  op = make(f, Command::kRead, 1000);
  run(*op);
  CHECK(result(*op) == "456789");
  op = make(f, Command::kRead, 1000);
  run(*op);
  CHECK(op->end_of_file);
}

TEST_CASE("a READ of more than there can be takes no such memory") {
  TestFile f("abc");
  auto op = make(f, Command::kRead, std::uint64_t{1} << 50);
  run(*op);
  CHECK(op->error == 0);
  CHECK(result(*op) == "abc");
  CHECK(op->result.size() < 1000);
}

TEST_CASE("READ with read-ahead") {
  TestFile f(pattern(100));
  Reader r{f, 40};
  CHECK(r.next(Command::kRead, 10) == pattern(100).substr(0, 10));
  CHECK(r.buffer.unread() == 40);
  CHECK(f.position() == 50);
  CHECK(r.next(Command::kRead, 45) == pattern(100).substr(10, 45));
  CHECK(r.next(Command::kRead, 1000) == pattern(100).substr(55));
  CHECK(r.next(Command::kRead, 1) == "eof");
}

TEST_CASE("READ_LINE") {
  const std::string text = "one\ntwo\r\n\n" + std::string(3000, 'x') + "\r\nlast";
  for (std::size_t read_ahead : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{65536}})
    for (bool in_pieces : {false, true}) {
      INFO("read ahead " << read_ahead << ", in pieces " << in_pieces);
      TestFile f(text);
      Reader r{f, read_ahead, {}, in_pieces};
      CHECK(r.next(Command::kReadLine) == "one\n");
      if (!read_ahead) CHECK(f.position() == 4);
      CHECK(r.next(Command::kReadLine) == "two\n");
      CHECK(r.next(Command::kReadLine) == "\n");
      CHECK(r.next(Command::kRead, 1) == "x");
      CHECK(r.next(Command::kReadLine) == std::string(2999, 'x') + "\n");
      CHECK(r.next(Command::kReadLine) == "last");
      CHECK(r.next(Command::kReadLine) == "eof");
    }
}

TEST_CASE("READ_LINE of a pipe loses nothing, though it cannot be moved back") {
  TestFile f("");
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], "a\nb\nrest", 8) == 8);
  ::close(ends[1]);
  close_file(f.file);
  f.file = File{ends[0], nullptr, kModeRead};
  Reader r{f, 0};
  CHECK(r.next(Command::kReadLine) == "a\n");
  CHECK(r.next(Command::kReadLine) == "b\n");
  CHECK(r.next(Command::kRead, 2) == "re");
  CHECK(r.next(Command::kReadLine) == "st");
  CHECK(r.next(Command::kReadLine) == "eof");
}

TEST_CASE("PREADV puts sizes in front of the data") {
  TestFile f("0123456789");
  auto op = make(f, Command::kPreadv, 9);
  op->request.pieces = {{2, 3}, {8, 5}, {50, 1}, {0, 0}};
  run(*op);
  REQUIRE(op->error == 0);
  const std::string sizes(
      "\0\0\0\4"
      "\0\0\0\0\0\0\0\3"
      "\0\0\0\0\0\0\0\2"
      "\xff\xff\xff\xff\xff\xff\xff\xff"
      "\0\0\0\0\0\0\0\0",
      36);
  CHECK(result(*op) == sizes + "23489");
  op = make(f, Command::kPreadv, 1);
  op->request.pieces = {{-1, 1}};
  run(*op);
  CHECK(op->error == EINVAL);
  op = make(f, Command::kPreadv, std::uint64_t{1} << 50);
  op->request.pieces = {{5, std::uint64_t{1} << 50}};
  run(*op);
  CHECK(result(*op) == std::string("\0\0\0\1"
                                   "\0\0\0\0\0\0\0\5",
                                   12) +
                           "56789");
}

TEST_CASE("IPREAD follows the header") {
  const std::string header(
      "\0\0\0\3"
      "\0\0\0\x0a",
      8);
  TestFile f(header + "..abcdef");
  auto op = make(f, Command::kIpread, 100);
  run(*op);
  CHECK(result(*op) == header + "abc");
  op = make(f, Command::kIpread, 2);  // the block is larger than wanted
  run(*op);
  CHECK(op->end_of_file);
  op = make(f, Command::kIpread, 100);
  op->request.offset = 12;  // no whole header
  run(*op);
  CHECK(op->end_of_file);
}

TEST_CASE("READ_FILE, of files that say their size and of those that do not") {
  TestFile f(pattern(200000));
  for (bool in_pieces : {false, true}) {
    Operation op;
    op.request.command = Command::kReadFile;
    op.request.name = f.path.c_str();
    op.in_pieces = in_pieces;
    CHECK(run_all(op) == 1);
    CHECK(result(op) == pattern(200000));
  }
  Operation op;
  op.request.command = Command::kReadFile;
  op.request.name = "/proc/self/cmdline";
  run(op);
  CHECK(op.error == 0);
  CHECK(op.done > 0);
  Operation directory;
  directory.request.command = Command::kReadFile;
  directory.request.name = "/";
  run(directory);
  CHECK(directory.error == EISDIR);
}

TEST_CASE("large transfers in parts: 256 KiB each while there are 512 KiB or more") {
  const std::string text = pattern(1024 * 1024 + 100);
  TestFile f(text);
  Operation whole;
  whole.request.command = Command::kReadFile;
  whole.request.name = f.path.c_str();
  whole.in_pieces = true;
  CHECK(run_all(whole) == 4);  // 256, 256, 256, 256 + 100
  CHECK(result(whole) == text);

  auto op = make(f, Command::kRead, text.size());
  op->in_pieces = true;
  CHECK(run_all(*op) == 4);
  CHECK(result(*op) == text);

  op = make(f, Command::kPreadv, text.size());
  op->in_pieces = true;
  op->request.pieces = {{0, 600 * 1024}, {600 * 1024, text.size() - 600 * 1024}};
  CHECK(run_all(*op) == 2);
  CHECK(result(*op).substr(20) == text);

  TestFile to("");
  ErlDrvBinary* binary = driver_alloc_binary(text.size());
  text.copy(binary->orig_bytes, text.size());
  SysIOVec vector{binary->orig_bytes, text.size()};
  ErlIOVec ev{1, text.size(), &vector, &binary};
  op = make(to, Command::kWrite, text.size());
  op->in_pieces = true;
  REQUIRE(op->data.add(ev, 0, text.size()));
  CHECK(run_all(*op) == 4);
  op = make(to, Command::kPwritev, text.size());
  op->in_pieces = true;
  REQUIRE(op->data.add(ev, 0, text.size()));
  op->request.pieces = {{0, 700 * 1024}, {700 * 1024, text.size() - 700 * 1024}};
  CHECK(run_all(*op) == 2);
  CHECK(op->number == 2);
  driver_free_binary(binary);
  Operation back;
  back.request.command = Command::kReadFile;
  back.request.name = to.path.c_str();
  run(back);
  CHECK(result(back) == text);
}

TEST_CASE("an operation that is dropped closes what it opened") {
  TestFile f("x");
  int fd;
  {
    Operation op;
    op.request.command = Command::kOpen;
    op.request.flags = kModeRead;
    op.request.name = f.path.c_str();
    run(op);
    REQUIRE(op.error == 0);
    fd = op.file.fd;
    CHECK(::lseek(fd, 0, SEEK_CUR) == 0);
  }
  CHECK(::lseek(fd, 0, SEEK_CUR) == -1);
  CHECK(errno == EBADF);
}
