// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/perf.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "vm/base/clock.hpp"
#include "vm/code/made_code.hpp"
#include "vm/code/module.hpp"
#include "vm/hot/unwinding.hpp"
#include "vm/jit/processor.hpp"
#include "vm/term/atom.hpp"

namespace vmrun {
namespace {

std::FILE *map = nullptr, *dump = nullptr;
std::uint64_t dumped = 0;

/// A new file of this user, whatever is there: what a dead process of our number has left goes; a
/// link is not followed, and what another user has put there stays (EEXIST).
int new_file(const std::string& path_before, const char* behind) {
  const std::string name = path_before + std::to_string(getpid()) + behind;
  (void)unlink(name.c_str());
  return open(name.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
}

// ---- The dump: records, each with its number of bytes -------------------------------------------

enum class RecordKind : std::uint32_t { kLoad = 0, kLines = 2, kUnwinding = 4 };

class Record {
 public:
  explicit Record(RecordKind kind) {
    u32(static_cast<std::uint32_t>(kind));
    u32(0);
    u64(monotonic_ns());
  }
  void u32(std::uint32_t v) { put(&v, sizeof v); }
  void u64(std::uint64_t v) { put(&v, sizeof v); }
  void string(std::string_view s) {
    put(s.data(), s.size());
    bytes_.push_back(0);
  }
  void put(const void* data, std::size_t size) {
    const auto* const p = static_cast<const char*>(data);
    bytes_.insert(bytes_.end(), p, p + size);
  }
  void write() {
    const auto size = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data() + 4, &size, sizeof size);
    std::fwrite(bytes_.data(), 1, bytes_.size(), dump);
  }

 private:
  std::vector<char> bytes_;
};

/// perf learns of the file by its being mapped as code.
bool open_dump(const std::string& folder) {
  const int fd = new_file(folder + "/jit-", ".dump");
  if (fd < 0) return false;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) return false;
  if (!(dump = fdopen(fd, "w"))) return false;
  constexpr std::uint32_t kMagic = 0x4A695444, kVersion = 1;
  const struct {
    std::uint32_t magic, version, bytes, machine, padding, pid;
    std::uint64_t time, flags;
  } header{kMagic,         kVersion, sizeof header, jit::kElfMachine, 0, static_cast<std::uint32_t>(getpid()),
           monotonic_ns(), 0};
  std::fwrite(&header, sizeof header, 1, dump);
  return std::fflush(dump) == 0;
}

struct Line {
  std::uint64_t code;
  SourceLocation source;
};
std::vector<Line> lines_of(const std::uint8_t* code, const HotFunction& made) {
  std::vector<Line> lines;
  for (const HotFunction::Place& p : made.places) {
    const SourceLocation source = location_at(p.at);
    if (!source.file) continue;
    if (lines.empty() || lines.back().source.line != source.line || lines.back().source.file != source.file)
      lines.push_back({reinterpret_cast<std::uint64_t>(code + p.offset), source});
  }
  return lines;
}

void write_dump(const std::string& name, const std::uint8_t* code, const HotFunction& made) {
  const auto address = reinterpret_cast<std::uint64_t>(code);
  if (const std::vector<Line> lines = lines_of(code, made); !lines.empty()) {
    Record r(RecordKind::kLines);
    r.u64(address);
    r.u64(lines.size());
    for (const Line& line : lines) {
      r.u64(line.code);
      r.u32(line.source.line);
      r.u32(0);  // no discriminator
      r.string(*line.source.file);
    }
    r.write();
  }
  const std::size_t bytes = made.code.size() - made.unwinding_bytes;
  if (made.unwinding_bytes) {
    Record r(RecordKind::kUnwinding);
    r.u64(made.unwinding_bytes);
    r.u64(kUnwindingTableBytes);
    r.u64(made.unwinding_bytes);  // so much is mapped behind the code
    r.put(made.code.data() + bytes, made.unwinding_bytes);
    r.write();
  }
  Record r(RecordKind::kLoad);
  r.u32(static_cast<std::uint32_t>(getpid()));
  r.u32(static_cast<std::uint32_t>(syscall(SYS_gettid)));
  r.u64(address);
  r.u64(address);
  r.u64(bytes);
  r.u64(dumped++);
  r.string(name);
  r.put(made.code.data(), bytes);
  r.write();
  std::fflush(dump);
}

bool open_map(const std::string& folder) {
  const int fd = new_file(folder + "/perf-", ".map");
  return fd >= 0 && (map = fdopen(fd, "w"));
}

}  // namespace

bool write_for_perf(PerfFiles files, const std::string& folder) {
  const bool both = files == PerfFiles::kBoth;
  if ((both || files == PerfFiles::kMap) && !open_map(folder)) return false;
  return !(both || files == PerfFiles::kDump) || open_dump(folder);
}

void add_unwinding(HotFunction* made) {
  if (!dump) return;
  constexpr std::uint8_t kNothing = 0xCC;
  made->code.resize((made->code.size() + 7) / 8 * 8, kNothing);  // perf aligns what follows so
  const std::size_t before = made->code.size();
  append_unwinding(made->frame_sizes, &made->code);
  made->unwinding_bytes = made->code.size() - before;
}

void tell_perf(const FunctionHeader& f, const std::uint8_t* code, const HotFunction& made) {
  if (!map && !dump) return;
  tell_perf(std::string(atom_text(f.module)) + ":" + std::string(atom_text(f.function)) + "/" +
                std::to_string(f.arity),
            code, made);
}

void tell_perf(const std::string& name, const std::uint8_t* code, const HotFunction& made) {
  if (map) {
    std::fprintf(map, "%zx %zx $%s\n", reinterpret_cast<std::size_t>(code),
                 made.code.size() - made.unwinding_bytes, name.c_str());
    std::fflush(map);
  }
  if (dump) write_dump(name, code, made);
}

}  // namespace vmrun
