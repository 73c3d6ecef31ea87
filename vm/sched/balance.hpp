// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "vm/base/word.hpp"

/// Balancing while every scheduler is busy, so that none takes work of another by itself. Each
/// scheduler says now and then how many processes wait on its queue, and how often one of them
/// could have run because nothing more urgent waited. From what all have said it computes how many
/// it should have, in proportion to how often they could run, and hands the rest to others. So no
/// process waits for ever behind a busy one of higher priority while another scheduler runs what is
/// less urgent, and all processes of one priority get about as many turns.
///
/// Only the owner takes processes off its queue; they go through the inbox of the other scheduler.
namespace vmrun {

struct Scheduler;

/// Called by each scheduler after some thousand reductions while no alarm of its own is set
/// (alarm.hpp). now is the clock.
void balance_now_and_then(Scheduler& s, Word now_ns);
/// How often schedulers have compared what they have. Any thread.
Word balances_done();

/// What one scheduler has of one kind of work.
struct Load {
  unsigned waiting = 0;  // processes
  unsigned room = 0;     // times per second that one of them could run
};
/// Writes how many processes the scheduler with this index gives to each of the others. All of them
/// compute the same at about the same moment, so together they give nobody too many.
void plan_gifts(std::span<const Load> loads, std::size_t giver, std::span<unsigned> gifts);

}  // namespace vmrun
