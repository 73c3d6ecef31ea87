#pragma once

#include <atomic>

#include "vm/heap/heap.hpp"

/// Inbox of one process: messages and signals in one order per sender. Any thread may push; only the process's own scheduler reads.
///
/// The outer queue is a lock-free stack (push: compare-and-swap; the owner takes everything in one exchange and reverses it). The word holds
/// the address of the newest fragment and the number of messages among those waiting there, so the length of the mailbox is
/// known without another counter. The inner queue is the owner's plain list, with a save position for selective receive.
namespace vmrun {

struct Process;

enum class SignalKind : std::uint32_t {
  kMessage = 0,
  kExit, kLink, kUnlink, kMonitor, kDemonitor, kDown, kGroupLeader, kProcessInfo, kGarbageCollect, kSuspend, kResume, kIsAlive, kRpc,
};

enum class PushResult { kQueued, kWakeOwner, kClosed };

class Mailbox {
 public:
  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  ~Mailbox();

  /// Appends. Thread-safe. Ownership of the fragment passes in, also on kClosed (the process has exited: it is destroyed here).
  [[nodiscard]] PushResult push(Fragment* f);

  // Everything below: owner only. See mailbox.cpp and receive.hpp for selective receive, markers and draining.
  Fragment* first = nullptr;       // inner queue, oldest message
  Fragment** last = &first;        // where the next one is linked
  Fragment** save = &first;        // link that leads to the next message to look at
  Word inner_count = 0;

 private:
  std::atomic<Word> outer_{0};
};

}  // namespace vmrun
