// SPDX-License-Identifier: Apache-2.0
// The file driver's system calls on descriptors and names, on real files.
#include "drivers/efile/file.hpp"
#include "drivers/efile/file_names.hpp"

#include <catch2/catch.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <unistd.h>

using namespace vmrun::efile;

namespace {

/// A folder that goes away with the test.
struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/vmrun-file-test-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
};

File opened(const std::string& path, unsigned flags) {
  File f;
  REQUIRE(open_file(path.c_str(), flags, &f) == 0);
  return f;
}

void put(File& f, const std::string& text) {
  const iovec v{const_cast<char*>(text.data()), text.size()};
  std::size_t done = 0;
  REQUIRE(write_all(f, &v, 1, &done) == 0);
  REQUIRE(done == text.size());
}

std::string get(File& f, std::size_t size) {
  std::string text(size, 0);
  std::size_t got = 0;
  REQUIRE(read_some(f, text.data(), size, &got) == 0);
  text.resize(got);
  return text;
}

std::string contents(const std::string& path) {
  File f = opened(path, kModeRead);
  std::string text = get(f, 1 << 20);
  close_file(f);
  return text;
}

}  // namespace

TEST_CASE("modes of open") {
  Folder d;
  File f;
  CHECK(open_file((d / "none").c_str(), kModeRead, &f) == ENOENT);
  CHECK(open_file(d.path.c_str(), kModeRead, &f) == EISDIR);
  CHECK(open_file((d / "x").c_str(), 0, &f) == EINVAL);
  CHECK_FALSE(f.is_open());

  f = opened(d / "f", kModeWrite);
  put(f, "0123456789");
  CHECK(close_file(f) == 0);
  CHECK_FALSE(f.is_open());
  f = opened(d / "f", kModeRead | kModeWrite);  // not cut
  put(f, "ab");
  CHECK(get(f, 3) == "234");
  close_file(f);
  f = opened(d / "f", kModeWrite | kModeAppend);
  put(f, "end");
  close_file(f);
  CHECK(contents(d / "f") == "ab23456789end");
  CHECK(open_file((d / "f").c_str(), kModeWrite | kModeExclusive, &f) == EEXIST);
  f = opened(d / "f", kModeWrite);
  close_file(f);
  CHECK(contents(d / "f").empty());
  CHECK((::fcntl(opened(d / "f", kModeRead).fd, F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("many vectors, empty ones among them, arrive in order") {
  Folder d;
  File f = opened(d / "f", kModeWrite);
  std::string expected;
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i) texts.push_back(i % 7 == 0 ? "" : std::to_string(i) + ",");
  std::vector<iovec> vectors;
  for (auto& t : texts) {
    vectors.push_back({t.data(), t.size()});
    expected += t;
  }
  std::size_t done = 0;
  REQUIRE(write_all(f, vectors.data(), vectors.size(), &done) == 0);
  CHECK(done == expected.size());
  close_file(f);
  CHECK(contents(d / "f") == expected);
}

TEST_CASE("a full device tells, and how far it came") {
  File f;
  if (open_file("/dev/full", kModeWrite, &f) != 0) return;
  const iovec v{const_cast<char*>("abc"), 3};
  std::size_t done = 9;
  CHECK(write_all(f, &v, 1, &done) == ENOSPC);
  CHECK(done == 0);
  close_file(f);
}

TEST_CASE("reading and writing at places leaves the position alone") {
  Folder d;
  File f = opened(d / "f", kModeRead | kModeWrite);
  put(f, "0123456789");
  char text[8] = {};
  std::size_t got = 0;
  CHECK(read_at(f, text, 4, 2, &got) == 0);
  CHECK(std::string(text, got) == "2345");
  CHECK(read_at(f, text, 4, 8, &got) == 0);
  CHECK(got == 2);
  CHECK(read_at(f, text, 4, 100, &got) == 0);
  CHECK(got == 0);
  CHECK(read_at(f, text, 4, -1, &got) == EINVAL);
  const iovec v{const_cast<char*>("XY"), 2};
  CHECK(write_at(f, &v, 1, 4, &got) == 0);
  std::int64_t position = -1;
  CHECK(seek(f, 0, 1, &position) == 0);
  CHECK(position == 10);
  CHECK(seek(f, -20, 1, &position) == EINVAL);
  CHECK(seek(f, 6, 0, &position) == 0);
  CHECK(truncate_here(f) == 0);
  CHECK(size_of(f) == 6);
  CHECK(bytes_ahead(f) == 0);
  close_file(f);
  CHECK(contents(d / "f") == "0123XY");
}

TEST_CASE("one read fills two places") {
  Folder d;
  File f = opened(d / "f", kModeRead | kModeWrite);
  put(f, "abcdefgh");
  std::int64_t position;
  REQUIRE(seek(f, 0, 0, &position) == 0);
  char a[3], b[10];
  std::size_t got = 0;
  CHECK(read_two(f, a, 3, b, 10, &got) == 0);
  CHECK(got == 8);
  CHECK(std::string(a, 3) + std::string(b, 5) == "abcdefgh");
  close_file(f);
}

TEST_CASE("compressed files") {
  Folder d;
  File f;
  CHECK(open_file((d / "z").c_str(), kModeRead | kModeWrite | kModeCompressed, &f) == EINVAL);
  const std::string text(100000, 'a');
  f = opened(d / "z", kModeWrite | kModeCompressed);
  put(f, text);
  CHECK(close_file(f) == 0);
  CHECK(contents(d / "z").size() < 1000);
  f = opened(d / "z", kModeWrite | kModeAppend | kModeCompressed);
  put(f, "tail");
  CHECK(close_file(f) == 0);
  f = opened(d / "z", kModeRead | kModeCompressed);
  CHECK(get(f, 200000) == text + "tail");
  CHECK(get(f, 10).empty());
  std::int64_t position;
  CHECK(seek(f, 99999, 0, &position) == 0);
  CHECK(get(f, 3) == "ata");
  CHECK(seek(f, 0, 2, &position) == EINVAL);
  close_file(f);

  File whole = opened(d / "z", kModeRead | kModeWrite);  // cut short
  REQUIRE(seek(whole, 40, 0, &position) == 0);
  REQUIRE(truncate_here(whole) == 0);
  close_file(whole);
  f = opened(d / "z", kModeRead | kModeCompressed);
  std::string rest(200000, 0);
  std::size_t got = 0;
  int error = 0;
  for (int i = 0; i < 10 && !error; ++i) error = read_some(f, rest.data(), rest.size(), &got);
  CHECK(error == EIO);
  close_file(f);

  // What is not compressed is read as it is.
  f = opened(d / "plain", kModeWrite);
  put(f, "plain");
  close_file(f);
  f = opened(d / "plain", kModeRead | kModeCompressed);
  CHECK(get(f, 100) == "plain");
  close_file(f);
}

TEST_CASE("sending to a file, to a pipe, and of what says it is empty") {
  Folder d;
  File from = opened(d / "from", kModeRead | kModeWrite);
  put(from, "0123456789");
  File to = opened(d / "to", kModeWrite);
  std::uint64_t sent = 0;
  bool would_block = false;
  CHECK(send_some(from, to.fd, 2, 5, &sent, &would_block) == 0);
  CHECK(sent == 5);
  CHECK(send_some(from, to.fd, 8, 0, &sent, &would_block) == 0);
  CHECK(sent == 2);
  CHECK(send_some(from, to.fd, 50, 0, &sent, &would_block) == 0);
  CHECK(sent == 0);
  close_file(to);
  CHECK(contents(d / "to") == "2345689");

  int ends[2];
  REQUIRE(::pipe2(ends, O_NONBLOCK) == 0);
  CHECK(send_some(from, ends[1], 0, 0, &sent, &would_block) == 0);
  CHECK(sent == 10);
  char text[16];
  CHECK(::read(ends[0], text, sizeof text) == 10);
  close_file(from);

  from = opened(d / "large", kModeRead | kModeWrite);
  put(from, std::string(1 << 20, 'x'));
  CHECK(send_some(from, ends[1], 0, 0, &sent, &would_block) == 0);
  CHECK(would_block);
  CHECK(sent > 0);
  CHECK(sent < (1 << 20));
  ::close(ends[0]);
  ::close(ends[1]);
  close_file(from);

  from = opened("/proc/self/stat", kModeRead);
  to = opened(d / "stat", kModeWrite);
  CHECK(send_some(from, to.fd, 0, 0, &sent, &would_block) == 0);
  CHECK(sent > 0);
  close_file(from);
  close_file(to);
}

TEST_CASE("names") {
  Folder d;
  FileInfo info;
  CHECK(make_directory((d / "dir").c_str()) == 0);
  CHECK(make_directory((d / "dir").c_str()) == EEXIST);
  CHECK(file_info((d / "dir").c_str(), false, &info) == 0);
  CHECK(info.type == 2);
  File f = opened(d / "dir/f", kModeWrite);
  put(f, "abc");
  CHECK(file_info(f.fd, &info) == 0);
  CHECK(info.size == 3);
  close_file(f);
  CHECK(remove_directory((d / "dir").c_str()) == EEXIST);
  CHECK(remove_file((d / "dir").c_str()) == EPERM);
  CHECK(make_symlink("dir/f", (d / "s").c_str()) == 0);
  CHECK(file_info((d / "s").c_str(), true, &info) == 0);
  CHECK(info.type == 4);
  CHECK(file_info((d / "s").c_str(), false, &info) == 0);
  CHECK(info.type == 3);
  CHECK(info.access == 3);
  std::string text;
  CHECK(read_link((d / "s").c_str(), &text) == 0);
  CHECK(text == "dir/f");
  CHECK(read_link((d / "dir").c_str(), &text) == EINVAL);
  const std::string far(1000, 'l');
  CHECK(make_symlink(far.c_str(), (d / "far").c_str()) == 0);
  CHECK(read_link((d / "far").c_str(), &text) == 0);
  CHECK(text == far);
  CHECK(make_link((d / "dir/f").c_str(), (d / "hard").c_str()) == 0);
  CHECK(rename_file((d / "hard").c_str(), (d / "moved").c_str()) == 0);
  CHECK(rename_file((d / "hard").c_str(), (d / "moved").c_str()) == ENOENT);

  Request change;
  change.name = "none";
  change.mode = 0600;
  CHECK(change_info(change) == ENOENT);
  const std::string moved = d / "moved";
  change.name = moved.c_str();
  change.mtime = 1000000000;
  CHECK(change_info(change) == 0);
  CHECK(file_info(moved.c_str(), false, &info) == 0);
  CHECK((info.mode & 07777) == 0600);
  CHECK(info.mtime == 1000000000);

  CHECK(make_directory((d / "list").c_str()) == 0);
  f = opened(d / "list/\xff\xfe name", kModeWrite);  // no UTF-8
  close_file(f);
  CHECK(read_directory((d / "list").c_str(), &(text = "")) == 0);
  CHECK(text == std::string("\0\7\xff\xfe name", 9));
  CHECK(read_directory((d / "none").c_str(), &text) == ENOENT);
  CHECK(working_directory(&text) == 0);
  CHECK(text == std::filesystem::current_path().string());
}
