// SPDX-License-Identifier: Apache-2.0
#include "drivers/efile/probes.hpp"

#include "vm/port/port.hpp"
#include "vm/probes/fire.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/print.hpp"

namespace vmrun::efile {
namespace {

constexpr std::size_t kUserTagBytes = 128;

/// The number of operations that this scheduler has accepted; wraps to 0.
thread_local unsigned operations = 0;

/// The four integers of the entry probe: docs/internals/files.md, "Commands".
struct Integers {
  std::int64_t i1 = 0, i2 = 0, i3 = 0, i4 = 0;
};

Integers integers(const Request& r, const OpenState& s) {
  const auto size = static_cast<std::int64_t>(r.size);
  switch (r.command) {
    case Command::kOpen: return {r.flags};
    case Command::kRead:
    case Command::kWrite:
    case Command::kPwritev:
    case Command::kPreadv: return {s.fd, s.flags, size};
    case Command::kLseek: return {s.fd, r.offset, r.option};
    case Command::kFstat:
    case Command::kFsync:
    case Command::kFdatasync: return {s.fd};
    case Command::kTruncate:
    case Command::kClose: return {s.fd, s.flags};
    case Command::kWriteInfo: return {r.mode, r.uid, r.gid};
    case Command::kSetopt:
      return {r.option, static_cast<std::int64_t>(r.option == kOptionDelayedWrite ? r.delay_ms : r.size)};
    case Command::kIpread: return {s.fd, s.flags, r.offset, size};
    case Command::kReadLine: return {s.fd, s.flags, static_cast<std::int64_t>(s.buffer_begin), s.reads_ahead};
    case Command::kFadvise: return {s.fd, r.offset, size, r.option};
    case Command::kSendfile: return {s.fd, r.option, r.offset, size};
    case Command::kFallocate: return {s.fd, r.offset, size};
    default: return {};
  }
}

}  // namespace

void identify(Operation& op, const char* user_tag) {
  const Scheduler* s = this_scheduler();
  op.identity.thread_id = s ? static_cast<int>(s->number) : 0;
  op.identity.tag = static_cast<int>(operations++ & 0x7FFFFFFF);
  op.identity.user_tag.clear();
  if (!user_tag) return;
  char kept[kUserTagBytes + 1];
  BoundedText text(kept, sizeof kept);
  text.put(user_tag);
  op.identity.user_tag = text.text();
}

void fire_entry(const Operation& op, const OpenState& state, ErlDrvPort port) {
  if (!probe::efile_drv_entry_enabled()) [[likely]]
    return;
  const Request& r = op.request;
  const Integers i = integers(r, state);
  const char* name = r.name && *r.name ? r.name : nullptr;  // FSTAT of the open file has no name
  probe::fire_efile_drv_entry(op.identity.thread_id, op.identity.tag, r.user_tag, static_cast<int>(r.command),
                              name, r.name2, i.i1, i.i2, i.i3, i.i4, reinterpret_cast<Port*>(port)->id);
}

void fire_int_entry(const Identity& identity, Command command) {
  if (probe::efile_drv_int_entry_enabled()) [[unlikely]]
    probe::fire_efile_drv_int_entry(identity.thread_id, identity.tag, static_cast<int>(command));
}

void fire_int_return(const Identity& identity, Command command) {
  if (probe::efile_drv_int_return_enabled()) [[unlikely]]
    probe::fire_efile_drv_int_return(identity.thread_id, identity.tag, static_cast<int>(command));
}

void fire_return(const Operation& op) {
  if (!probe::efile_drv_return_enabled()) [[likely]]
    return;
  probe::fire_efile_drv_return(op.identity.thread_id, op.identity.tag, op.identity.user_tag.c_str(),
                               static_cast<int>(op.request.command), op.error == 0, op.error);
}

}  // namespace vmrun::efile
