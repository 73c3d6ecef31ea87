#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "probes/print/merge.hpp"
#include "probes/vmtrace/output.hpp"
#include "probes/vmtrace/target.hpp"

/// The loop of the command: lets targets work, takes the records of all their rings, in the order
/// of their timestamps, and has them printed. The main thread's.
namespace vmrun::d {

/// A target and the script as it was compiled for it.
struct Traced {
  std::unique_ptr<Target> target;
  std::unique_ptr<Script> script;
  std::unique_ptr<Texts> texts;
  // Drops that no ring tells of: elements that did not fit when threads' were added up, firings of
  // threads that have no ring.
  std::uint64_t reported[static_cast<std::size_t>(Drop::kCount)] = {};
};

class Reader {
 public:
  /// Before the first target begins: SIGINT, SIGTERM and SIGHUP end a run as exit(0) would, and
  /// when it is_asked SIGUSR1 does.
  static void handle_signals(bool is_asked);

  /// asked: called when SIGUSR1 is why the run ends, before it does.
  Reader(std::vector<Traced>& traced, Output& output, Aggregates& aggregates,
         std::function<void()> asked = {});

  /// From the first record to END and the last aggregations; the exit status.
  int run();
  /// Adds what the targets have aggregated: for Output.
  void refresh();

 private:
  struct Stream : TracingStream {
    Stream(Ring& ring, Traced& of, const bool& ended) : TracingStream(ring, ended), traced(&of) {}
    Traced* traced;
    std::uint32_t cpu = 0;
    std::uint64_t reported[static_cast<std::size_t>(Drop::kCount)] = {};
  };

  void find_streams();
  /// A ring is known by what another says, but the target's message has not come yet.
  bool is_ring_missing() const;
  /// Whether anything came. last: everything is taken, however young.
  bool drain(bool last);
  void print_next(Stream& stream);
  std::uint64_t firings();
  void report_drops(bool last);
  void report_drops_of_none();
  bool finished();
  void learn_atoms();
  void pause(std::uint64_t ns);

  std::vector<Traced>& traced_;
  Output& output_;
  Aggregates& aggregates_;
  std::function<void()> asked_;
  std::vector<std::unique_ptr<Stream>> streams_;
  bool ended_ = false;  // nothing fires any more
  std::uint64_t next_drops_ = 0, next_refresh_ = 0, firings_before_ = 0;
};

}  // namespace vmrun::d
