// SPDX-License-Identifier: Apache-2.0
#include "drivers/efile/reply.hpp"

#include <cerrno>

namespace vmrun::efile {
namespace {

using enum Reply;

constexpr std::size_t kCopied = 64;  // binaries of this size are on the heap anyway
constexpr std::size_t kSlack = 4096;

void send(ErlDrvPort port, Reply code, const char* bytes = nullptr, std::size_t size = 0) {
  auto header = static_cast<char>(code);
  driver_output2(port, &header, 1, const_cast<char*>(bytes), size);
}

void send(ErlDrvPort port, Reply code, ErlDrvBinary* binary, std::size_t offset, std::size_t size) {
  if (size <= kCopied) return send(port, code, binary->orig_bytes + offset, size);
  auto header = static_cast<char>(code);
  driver_output_binary(port, &header, 1, binary, offset, size);
}

/// Numbers in a row, big-endian.
class Packer {
 public:
  Packer& put(std::uint64_t n, unsigned bytes) {
    for (unsigned i = bytes; i--; n >>= 8) bytes_[size_ + i] = static_cast<char>(n);
    size_ += bytes;
    return *this;
  }
  const char* bytes() const { return bytes_; }
  std::size_t size() const { return size_; }

 private:
  char bytes_[128];
  std::size_t size_ = 0;
};

void send_result(ErlDrvPort port, Reply code, Operation& op) {
  // A binary that is much larger than its contents is shrunk, because the process may keep it.
  if (op.result.size() > 2 * op.done + kSlack) (void)op.result.resize(op.done);
  send(port, code, op.result.get(), 0, op.done);
}

void send_info(ErlDrvPort port, const FileInfo& i) {
  Packer p;
  p.put(i.size, 8)
      .put(i.type, 4)
      .put(i.mode, 4)
      .put(i.links, 4)
      .put(i.major, 4)
      .put(i.minor, 4)
      .put(i.inode, 8)
      .put(i.uid, 4)
      .put(i.gid, 4);
  p.put(i.access, 4)
      .put(static_cast<std::uint64_t>(i.atime), 8)
      .put(static_cast<std::uint64_t>(i.mtime), 8)
      .put(static_cast<std::uint64_t>(i.ctime), 8);
  send(port, kInfo, p.bytes(), p.size());
}

void send_pieces_and_error(ErlDrvPort port, std::uint64_t pieces, int error) {
  Packer count;
  count.put(pieces, 4);
  const std::string text = std::string(count.bytes(), count.size()) + erl_errno_id(error);
  send(port, kNumberAndError, text.data(), text.size());
}

}  // namespace

void reply_ok(ErlDrvPort port) { send(port, kOk); }

void reply_error(ErlDrvPort port, int error) {
  const char* name = erl_errno_id(error);
  send(port, kError, name, std::strlen(name));
}

void reply_number(ErlDrvPort port, std::uint64_t number) {
  Packer p;
  p.put(number, 8);
  send(port, kNumber, p.bytes(), p.size());
}

void reply_data(ErlDrvPort port, const char* bytes, std::size_t size) { send(port, kData, bytes, size); }
void reply_data(ErlDrvPort port, ErlDrvBinary* binary, std::size_t offset, std::size_t size) {
  send(port, kData, binary, offset, size);
}

void reply_no_pieces(ErlDrvPort port) {
  Packer p;
  p.put(0, 4);
  send(port, kPieces, p.bytes(), p.size());
}

void reply_result(ErlDrvPort port, Operation& op) {
  if (op.error && op.request.command == Command::kPwritev)
    return send_pieces_and_error(port, op.number, op.error);
  if (op.error) return reply_error(port, op.error);
  if (op.end_of_file) return send(port, kEndOfFile);
  switch (op.request.command) {
    case Command::kRead:
    case Command::kReadLine: return send_result(port, kData, op);
    case Command::kReadFile: return send_result(port, kAllData, op);
    case Command::kPreadv:
    case Command::kIpread: return send_result(port, kPieces, op);
    case Command::kOpen:
    case Command::kLseek:
    case Command::kWrite:
    case Command::kPwritev:
    case Command::kSendfile: return reply_number(port, op.number);
    case Command::kFstat:
    case Command::kLstat: return send_info(port, op.info);
    case Command::kPwd:
    case Command::kReadlink:
    case Command::kAltname: return send(port, kName, op.text.data(), op.text.size());
    case Command::kReaddir: return send(port, kNames, op.text.data(), op.text.size());
    default: return reply_ok(port);
  }
}

}  // namespace vmrun::efile
