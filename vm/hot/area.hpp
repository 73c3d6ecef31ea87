// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Memory for machine code, near the loop's so that either reaches the other by a jump. A page is
/// written first and executed then, never both at once: code has pages of its own, and what is in
/// them does not change until it is freed. Where the kernel refuses that (SELinux without execmem)
/// there is no area.
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
  /// near: an address in the loop. Check `ok`.
  Area(const void* near, std::size_t bytes);
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  bool ok() const { return begin_; }
  // Under the caller's lock.
  /// Where such code is going to be executed; nullptr: no room.
  const std::uint8_t* allocate(std::size_t bytes);
  /// Writes it there, where nothing is executed meanwhile, to be executed from now on. False: there
  /// is no memory, and the place is free again.
  [[nodiscard]] bool install(const std::uint8_t* place, const std::uint8_t* code, std::size_t bytes);
  void free(const std::uint8_t* place, std::size_t bytes);
  /// Bytes of pages that are not free.
  std::size_t used() const { return used_; }
  /// Where in the area it would be executed; the area's size or more: it lies elsewhere.
  std::size_t offset(const void* code) const {
    return static_cast<std::size_t>(static_cast<const std::uint8_t*>(code) - begin_);
  }

 private:
  std::uint8_t* begin_ = nullptr;
  std::size_t used_ = 0;
  std::size_t next_line_ = 0;
  struct Free;
  Free* free_;
};

}  // namespace vmrun
