// SPDX-License-Identifier: Apache-2.0
#include "vm/code/delaying_call.hpp"

#include <unistd.h>

#include <atomic>

#include "vm/base/word.hpp"

namespace vmrun {
namespace {

// Dekker's rule, sequentially consistent: either a call that begins sees that the machine halts, or
// the thread that halts sees the call.
std::atomic<Word> delaying_calls{0};
std::atomic<bool> halts{false};

}  // namespace

void wait_for_delaying_calls() {
  halts.store(true, std::memory_order_seq_cst);
  while (const Word n = delaying_calls.load(std::memory_order_seq_cst))
    delaying_calls.wait(n, std::memory_order_seq_cst);
}

void DelayingCall::begin() {
  delaying_calls.fetch_add(1, std::memory_order_seq_cst);
  if (!halts.load(std::memory_order_seq_cst)) return;
  end();
  for (;;) pause();
}

void DelayingCall::end() {
  delaying_calls.fetch_sub(1, std::memory_order_seq_cst);
  if (halts.load(std::memory_order_seq_cst)) delaying_calls.notify_all();
}

}  // namespace vmrun
