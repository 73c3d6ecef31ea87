// SPDX-License-Identifier: Apache-2.0
#include "drivers/ram_file/ram_file_driver.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include "drivers/bytes/byte_reader.hpp"
#include "drivers/ram_file/contents.hpp"
#include "vm/port/driver.hpp"

/// A port is an open file. Each command has one answer, sent to the port's owner, whichever process
/// sent the command.
namespace vmrun::ram_file {
namespace {

enum Command : std::uint8_t {
  kOpen = 1,
  kRead = 2,
  kLseek = 3,
  kWrite = 4,
  kFsync = 9,
  kTruncate = 14,
  kPread = 17,
  kPwrite = 18,
  kFdatasync = 19,
  kGet = 30,
  kSize = 37,
  kAdvise = 38,
  kAllocate = 39,
};

enum Code : char { kOk = 0, kError = 1, kData = 2, kNumber = 3 };

enum Origin : std::int32_t { kFromBegin = 0, kFromPosition = 1, kFromEnd = 2 };

constexpr unsigned kReadable = 1, kWritable = 2;

constexpr std::size_t kFieldsMax = 2;
constexpr std::size_t kMost = UINT32_MAX;  // answers have four bytes for sizes and positions
constexpr std::size_t kCopied = 64;        // binaries of this size are on the heap anyway

struct RamFile {
  ErlDrvPort port;
  unsigned mode = 0;         // kReadable and kWritable; 0: not opened yet
  std::size_t position = 0;  // may lie behind the end
  Contents contents{};
};

RamFile& file_of(ErlDrvData data) { return *reinterpret_cast<RamFile*>(data); }

// ---- Answers. The functions say 0, or the error that is to be answered instead. ----------------

/// A code, followed by a number.
struct Header {
  char bytes[5];
  Header(Code code, std::size_t number) : bytes{code} {
    for (int i = 4; i > 0; --i, number >>= 8) bytes[i] = static_cast<char>(number);
  }
};

int answer_ok(RamFile& f) {
  char code = kOk;
  driver_output2(f.port, &code, 1, nullptr, 0);
  return 0;
}

int answer_number(RamFile& f, std::size_t number) {
  Header h(kNumber, number);
  driver_output2(f.port, h.bytes, sizeof h.bytes, nullptr, 0);
  return 0;
}

int answer_data(RamFile& f, std::string_view data) {
  Header h(kData, data.size());
  const bool as_list = !(get_port_flags(f.port) & PORT_FLAG_BINARY);
  if (!data.empty() && (as_list || data.size() <= kCopied)) {
    driver_output2(f.port, h.bytes, sizeof h.bytes, const_cast<char*>(data.data()), data.size());
    return 0;
  }
  BinaryRef copy;
  if (!copy.allocate(data.size())) return ENOMEM;
  if (!data.empty()) std::memcpy(copy.bytes(), data.data(), data.size());
  driver_output_binary(f.port, h.bytes, sizeof h.bytes, copy.get(), 0, data.size());
  return 0;
}

/// For binary ports the name is a list too.
void answer_error(RamFile& f, int error) {
  std::string bytes(1, kError);
  bytes += erl_errno_id(error);
  driver_output2(f.port, bytes.data(), bytes.size(), nullptr, 0);
}

// ---- Commands: 0 when answered, else the error that is the answer. ------------------------------

int put(RamFile& f, std::size_t at, const Data& data) {
  if (!(f.mode & kWritable)) return EBADF;
  if (at + data.size() > kMost) return EFBIG;
  return f.contents.write(at, data) ? 0 : ENOMEM;
}

int get(RamFile& f, std::size_t at, std::int32_t size, std::string_view* data) {
  if (!(f.mode & kReadable)) return EBADF;
  if (size < 0) return EINVAL;
  *data = f.contents.piece(at, static_cast<std::size_t>(size));
  return answer_data(f, *data);
}

int open(RamFile& f, std::int32_t mode, const Data& data) {
  f.mode = static_cast<unsigned>(mode) & (kReadable | kWritable);
  f.position = 0;
  f.contents = Contents();
  if (data.size() > kMost) return EFBIG;
  return f.contents.write(0, data) ? answer_number(f, 0) : ENOMEM;
}

int read(RamFile& f, std::int32_t size) {
  std::string_view data;
  const int error = get(f, f.position, size, &data);
  if (!error) f.position += data.size();
  return error;
}

int read_at(RamFile& f, std::int32_t at, std::int32_t size) {
  std::string_view data;
  return at < 0 ? EINVAL : get(f, static_cast<std::size_t>(at), size, &data);
}

int write(RamFile& f, const Data& data) {
  if (const int error = put(f, f.position, data)) return error;
  f.position += data.size();
  return answer_number(f, data.size());
}

int write_at(RamFile& f, std::int32_t at, const Data& data) {
  if (at < 0) return EINVAL;
  const int error = put(f, static_cast<std::size_t>(at), data);
  return error ? error : answer_number(f, data.size());
}

int seek(RamFile& f, std::int32_t offset, std::int32_t origin) {
  if (!f.mode) return EBADF;
  std::size_t base = 0;
  switch (origin) {
    case kFromBegin: break;
    case kFromPosition: base = f.position; break;
    case kFromEnd: base = f.contents.size(); break;
    default: return EINVAL;
  }
  const std::int64_t to = static_cast<std::int64_t>(base) + offset;
  if (to < 0 || static_cast<std::size_t>(to) > kMost) return EINVAL;
  f.position = static_cast<std::size_t>(to);
  return answer_number(f, f.position);
}

int truncate(RamFile& f) {
  if (!(f.mode & kWritable)) return EACCES;
  return f.contents.resize(f.position) ? answer_ok(f) : ENOMEM;
}

/// Answers commands that have no effect on memory: syncing and advice.
int nothing(RamFile& f) { return f.mode ? answer_ok(f) : EBADF; }

/// Returns the number of four-byte numbers between a command's own byte and its data.
std::size_t fields_of(std::uint8_t command) {
  switch (command) {
    case kLseek:
    case kPread: return 2;
    case kOpen:
    case kRead:
    case kPwrite: return 1;
    default: return 0;
  }
}

int perform(RamFile& f, ErlIOVec& bytes) {
  char front[1 + 4 * kFieldsMax];
  ByteReader r(front, driver_vec_to_buf(&bytes, front, sizeof front));
  const std::uint8_t command = r.u8();
  const std::size_t fields = fields_of(command);
  const std::int32_t first = fields > 0 ? r.i32() : 0, second = fields > 1 ? r.i32() : 0;
  if (!r.good()) return EINVAL;
  const Data data{bytes, 1 + 4 * fields};
  switch (command) {
    case kOpen: return open(f, first, data);
    case kRead: return read(f, first);
    case kLseek: return seek(f, first, second);
    case kWrite: return write(f, data);
    case kTruncate: return truncate(f);
    case kPread: return read_at(f, first, second);
    case kPwrite: return write_at(f, first, data);
    case kGet: return answer_data(f, f.contents.piece(0, f.contents.size()));
    case kSize: return answer_number(f, f.contents.size());
    case kFsync:
    case kFdatasync:
    case kAdvise:
    case kAllocate: return nothing(f);
    default: return EINVAL;
  }
}

ErlDrvData start(ErlDrvPort port, char*) { return reinterpret_cast<ErlDrvData>(new RamFile{port}); }
void stop(ErlDrvData data) { delete &file_of(data); }

void outputv(ErlDrvData data, ErlIOVec* bytes) {
  RamFile& f = file_of(data);
  if (const int error = perform(f, *bytes)) answer_error(f, error);
}

}  // namespace

ErlDrvEntry* driver_entry() {
  static ErlDrvEntry entry = [] {
    ErlDrvEntry e = own_driver_entry("ram_file_drv");
    e.start = start;
    e.stop = stop;
    e.outputv = outputv;
    return e;
  }();
  return &entry;
}

}  // namespace vmrun::ram_file
