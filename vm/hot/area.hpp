// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Memory for machine code, near the loop's if the processor wants that (vm/jit/processor.hpp). A
/// page is never written and executed at once. Codes share pages all the same: what is to hold
/// another one is copied to fresh memory, which is written, made executable, and then moved to
/// where the old pages are, by one call of the kernel (mremap). Threads that execute there see the
/// old page or the new one, and in both the same code. Where the kernel refuses memory that has
/// been written and is executed then (SELinux without execmem) there is no area.
///
/// The pages are private memory without a name, as those of other machines' compilers, because
/// that is what tracers know. DTrace 2 (libdtrace/dt_pid.c, dt_pid_create_stapsdt_probes_proc)
/// goes through /proc/PID/maps, opens whatever executable mapping has a name without a bracket in
/// it as an ELF file, and ends at the first one that is none: with shared memory, whose name is
/// `/dev/zero (deleted)`, it came no further than here. perf asks its map of names
/// (/tmp/perf-PID.map) for anonymous memory only, which a memfd is not.
namespace vmrun {

class Area {
 public:
  /// near: an address in the loop. bytes: a multiple of kChunk. Check `ok`.
  Area(const void* near, std::size_t bytes);
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  bool ok() const { return begin_; }
  const std::uint8_t* begin() const { return begin_; }
  // Under the caller's lock.
  /// Where such code is going to be executed; nullptr: no room. No two codes share a line of the
  /// cache.
  const std::uint8_t* allocate(std::size_t bytes);
  /// Writes it there, to be executed from now on. False: there is no memory, and the place is free
  /// again.
  [[nodiscard]] bool install(const std::uint8_t* place, const std::uint8_t* code, std::size_t bytes);
  void free(const std::uint8_t* place, std::size_t bytes);
  /// Bytes of pages that are not free.
  std::size_t used() const;
  /// Bytes of the lines that codes have in them.
  std::size_t taken() const { return lines_ * kLine; }
  /// Where in the area it would be executed; the area's size or more: it lies elsewhere.
  std::size_t offset(const void* code) const {
    return static_cast<std::size_t>(static_cast<const std::uint8_t*>(code) - begin_);
  }

  /// What is moved at once: each becomes a mapping of its own, and a process may have so many.
  static constexpr std::size_t kChunk = std::size_t{1} << 16;

 private:
  static constexpr std::size_t kLine = 64;
  struct Pages;
  struct Free;

  void count(std::size_t offset, std::size_t bytes, bool taken);
  void put_back(std::size_t offset, std::size_t bytes);
  bool move_in(std::uint8_t* fresh, std::size_t first, std::size_t bytes);

  std::uint8_t* begin_ = nullptr;
  std::size_t size_ = 0, pages_ = 0, lines_ = 0;
  Free* free_;
  Pages* lines_of_;
};

}  // namespace vmrun
