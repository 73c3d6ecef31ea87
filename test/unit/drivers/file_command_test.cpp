// SPDX-License-Identifier: Apache-2.0
// Commands of the file driver: bytes in, fields out; what is malformed is refused, whatever it is.
#include "drivers/efile/file_command.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <string>

using namespace vmrun::efile;

namespace {

/// Builds the bytes of a command.
struct Bytes {
  std::string text;
  explicit Bytes(Command c) { text.push_back(static_cast<char>(c)); }
  Bytes& number(std::uint64_t n, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text.push_back(static_cast<char>(n >> shift));
    return *this;
  }
  Bytes& name(const std::string& s) {
    text += s;
    text.push_back('\0');
    return *this;
  }
  Bytes& raw(const std::string& s) {
    text += s;
    return *this;
  }
};

struct Result {
  Decoded how;
  Request request;
  std::size_t data_at = 0;
};

Result read(const std::string& text, std::size_t seen = std::string::npos) {
  Result r;
  r.how = decode(text.data(), std::min(seen, text.size()), text.size(), &r.request, &r.data_at);
  return r;
}

}  // namespace

TEST_CASE("names, numbers and the tag at the end") {
  auto bytes = Bytes(Command::kOpen).number(3, 4).name("a/b").name("tag").text;
  auto r = read(bytes);
  REQUIRE(r.how == Decoded::kDone);
  CHECK(r.request.command == Command::kOpen);
  CHECK(r.request.flags == 3);
  CHECK(std::string(r.request.name) == "a/b");
  CHECK(std::string(r.request.user_tag) == "tag");

  bytes = Bytes(Command::kRename).name("old-name").name("new-name").name("").text;
  r = read(bytes);
  REQUIRE(r.how == Decoded::kDone);
  CHECK(bytes.size() == 20);
  CHECK(std::string(r.request.name) == "old-name");
  CHECK(std::string(r.request.name2) == "new-name");
  CHECK(r.request.user_tag == nullptr);

  bytes = Bytes(Command::kLseek).number(static_cast<std::uint64_t>(-5), 8).number(2, 4).name("").text;
  r = read(bytes);
  REQUIRE(r.how == Decoded::kDone);
  CHECK(r.request.offset == -5);
  CHECK(r.request.option == 2);
}

TEST_CASE("a command without a tag is read all the same") {
  auto bytes = Bytes(Command::kMkdir).name("d").text;
  auto r = read(bytes);
  REQUIRE(r.how == Decoded::kDone);
  CHECK(r.request.user_tag == nullptr);
}

TEST_CASE("the tag in front, and data behind") {
  auto bytes = Bytes(Command::kWrite).name("who").raw("some data").text;
  auto r = read(bytes);
  REQUIRE(r.how == Decoded::kDone);
  CHECK(std::string(r.request.user_tag) == "who");
  CHECK(r.request.size == 9);
  CHECK(r.data_at == 5);

  bytes = Bytes(Command::kPwritev)
              .name("")
              .number(2, 4)
              .number(10, 8)
              .number(3, 8)
              .number(0, 8)
              .number(2, 8)
              .raw("abcde")
              .text;
  r = read(bytes);
  REQUIRE(r.how == Decoded::kDone);
  CHECK(r.request.size == 5);
  REQUIRE(r.request.pieces.size() == 2);
  CHECK(r.request.pieces[0].offset == 10);
  CHECK(r.request.pieces[1].size == 2);
  CHECK(bytes.substr(r.data_at) == "abcde");

  CHECK(read(Bytes(Command::kPwritev).name("").number(1, 4).number(0, 8).number(3, 8).raw("ab").text).how ==
        Decoded::kInvalid);
}

TEST_CASE("the beginning of a long command is enough when only data follow") {
  const auto bytes = Bytes(Command::kWrite).name("t").raw(std::string(100000, 'x')).text;
  const auto r = read(bytes, 512);
  REQUIRE(r.how == Decoded::kDone);
  CHECK(r.request.size == 100000);
  CHECK(read(Bytes(Command::kWrite).name(std::string(600, 't')).raw("x").text, 512).how ==
        Decoded::kNeedMore);
  CHECK(read(Bytes(Command::kMkdir).name(std::string(600, 'd')).text, 512).how == Decoded::kNeedMore);
}

TEST_CASE("cut anywhere, a command is refused or asks for more; nothing is read beyond its bytes") {
  const std::string commands[] = {
      Bytes(Command::kOpen).number(1, 4).name("f").name("").text,
      Bytes(Command::kRename).name("a").name("b").name("t").text,
      Bytes(Command::kWriteInfo)
          .number(0, 4)
          .number(0, 4)
          .number(0, 4)
          .number(0, 8)
          .number(0, 8)
          .number(0, 8)
          .name("f")
          .name("")
          .text,
      Bytes(Command::kPreadv)
          .name("")
          .number(0, 4)
          .number(2, 4)
          .number(0, 8)
          .number(1, 8)
          .number(0, 8)
          .number(1, 8)
          .text,
      Bytes(Command::kIpread).number(0, 1).number(0, 8).number(100, 4).name("").text,
      Bytes(Command::kFadvise).number(0, 8).number(0, 8).number(1, 4).name("").text,
  };
  for (const std::string& whole : commands) {
    REQUIRE(read(whole).how == Decoded::kDone);
    for (std::size_t n = 0; n < whole.size(); ++n) {
      INFO("command " << int(whole[0]) << " cut at " << n);
      CHECK(read(whole, n).how == Decoded::kNeedMore);
      const std::string cut = whole.substr(0, n);
      // Only the tag may be missing.
      if (read(cut).how == Decoded::kDone) CHECK(n + 2 >= whole.size());
    }
  }
}

TEST_CASE("contradictions are refused") {
  CHECK(read("").how == Decoded::kInvalid);
  CHECK(read(std::string(1, '\0')).how == Decoded::kInvalid);
  CHECK(read(std::string(1, 17)).how == Decoded::kInvalid);
  CHECK(read(std::string(1, 34)).how == Decoded::kInvalid);
  CHECK(read(std::string(1, '\xff')).how == Decoded::kInvalid);
  CHECK(read(Bytes(Command::kLseek).number(0, 8).number(3, 4).name("").text).how == Decoded::kInvalid);
  CHECK(read(Bytes(Command::kFsync).name("").raw("more").text).how == Decoded::kInvalid);
  CHECK(read(Bytes(Command::kSetopt).number(9, 1).number(0, 8).name("").text).how == Decoded::kInvalid);
  CHECK(read(Bytes(Command::kPreadv).name("").number(0, 4).number(1, 4).number(0, 8).text).how ==
        Decoded::kInvalid);
  CHECK(read(Bytes(Command::kPreadv).name("").number(0, 4).number(0xFFFFFFFF, 4).text).how ==
        Decoded::kInvalid);
  const auto overflow = Bytes(Command::kPreadv)
                            .name("")
                            .number(0, 4)
                            .number(2, 4)
                            .number(0, 8)
                            .number(~0ull, 8)
                            .number(0, 8)
                            .number(~0ull, 8)
                            .text;
  CHECK(read(overflow).how == Decoded::kInvalid);
}
