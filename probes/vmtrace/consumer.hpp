// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "probes/print/merge.hpp"
#include "probes/vmtrace/record_output.hpp"
#include "probes/vmtrace/target.hpp"

/// The loop of vmtrace. It serves the targets, takes the records of all their rings in the order of
/// their timestamps, and has them printed. The main thread uses it.
///
/// A machine that ends does not wait long, and the process that reads the output may be slow. So
/// the consumer asks a machine for everything it needs as soon as the machine ends, also in the
/// middle of writing, and prints the records of its rings afterwards.
namespace vmrun::d {

/// A target, and the script compiled for it.
struct Traced {
  std::unique_ptr<Target> target;
  std::unique_ptr<Script> script;
  std::unique_ptr<Texts> texts;
  bool has_left = false;    // nothing fires any more, and everything to be printed is here
  bool has_exited = false;  // the machine has ended by itself
  // Drops that no ring counts: elements that did not fit when the tables of threads were added up,
  // and firings of threads without a ring.
  std::uint64_t reported[static_cast<std::size_t>(Drop::kCount)] = {};
};

class Consumer {
 public:
  /// Called before the first target begins. From then on SIGINT, SIGTERM and SIGHUP end a run as
  /// exit(0) would. A second signal also gives up output that cannot be written. When is_asked,
  /// SIGUSR1 ends a run too.
  static void handle_signals(bool is_asked);

  /// asked: called before the run ends, when SIGUSR1 is the reason.
  Consumer(std::vector<Traced>& traced, Output& output, Aggregates& aggregates,
           std::function<void()> asked = {});
  ~Consumer() { output_.flush(); }  // flush calls wait_to_write

  /// Runs from the first record to END and the last aggregations. Returns the exit status.
  int run();
  /// Adds up the aggregations of the targets. Called by Output.
  void refresh();
  /// Waits until the file can be written, and serves the targets meanwhile. Returns false if the
  /// rest of the output is given up. Called by Output.
  bool wait_to_write(int file);

 private:
  struct Stream : TracingStream {
    Stream(Ring& ring, Traced& of) : TracingStream(ring, of.has_left), traced(&of) {}
    Traced* traced;
    std::uint32_t cpu = 0;
    std::uint64_t reported[static_cast<std::size_t>(Drop::kCount)] = {};
  };

  /// Serves the targets. Returns in how many nanoseconds they need it again, at most `most_ns`.
  std::uint64_t serve(std::uint64_t most_ns);
  /// Ends the tracing of a target. Its records with their names, its aggregations and its drops
  /// have been taken then.
  void leave(Traced& traced);
  void ask_names(Traced& traced);
  void find_streams();
  /// Whether a ring is known from another ring's records before the target's message has come.
  bool is_ring_missing() const;
  /// Takes records; returns whether there were any. last: takes all of them, however recent.
  bool drain(bool last);
  void print_next(Stream& stream);
  std::uint64_t firings();
  void report_drops(bool last);
  void report_drops_of_none();
  bool finished();
  bool is_ended_by_user();
  void learn_atoms();
  /// Sleeps until the time is up, a target needs serving, or the file can be written (-1: no file).
  void pause(std::uint64_t ns, int file = -1);

  std::vector<Traced>& traced_;
  Output& output_;
  Aggregates& aggregates_;
  std::function<void()> asked_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::uint64_t> words_;  // of the record that is printed: its stream may be filled meanwhile
  std::uint64_t next_drops_ = 0, next_refresh_ = 0, firings_before_ = 0;
};

}  // namespace vmrun::d
