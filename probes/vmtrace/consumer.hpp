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
///
/// A machine that ends does not wait long, and whoever reads the output may be slow. So all that
/// has to be asked of a machine is asked as soon as it ends, in the middle of writing too, and what
/// its rings hold is printed afterwards.
namespace vmrun::d {

/// A target and the script as it was compiled for it.
struct Traced {
  std::unique_ptr<Target> target;
  std::unique_ptr<Script> script;
  std::unique_ptr<Texts> texts;
  bool has_left = false;    // nothing fires any more, and all that there is to print is here
  bool has_exited = false;  // the machine has ended by itself
  // Drops that no ring tells of: elements that did not fit when threads' were added up, firings of
  // threads that have no ring.
  std::uint64_t reported[static_cast<std::size_t>(Drop::kCount)] = {};
};

class Consumer {
 public:
  /// Before the first target begins: SIGINT, SIGTERM and SIGHUP end a run as exit(0) would, a
  /// second one also gives up output that nobody reads; when it is_asked SIGUSR1 ends a run too.
  static void handle_signals(bool is_asked);

  /// asked: called when SIGUSR1 is why the run ends, before it does.
  Consumer(std::vector<Traced>& traced, Output& output, Aggregates& aggregates,
           std::function<void()> asked = {});
  ~Consumer() { output_.flush(); }  // which waits by us

  /// From the first record to END and the last aggregations; the exit status.
  int run();
  /// Adds what the targets have aggregated: for Output.
  void refresh();
  /// Waits until the file can be written, and serves the targets meanwhile: for Output. False: what
  /// has not been written is given up.
  bool wait_to_write(int file);

 private:
  struct Stream : TracingStream {
    Stream(Ring& ring, Traced& of) : TracingStream(ring, of.has_left), traced(&of) {}
    Traced* traced;
    std::uint32_t cpu = 0;
    std::uint64_t reported[static_cast<std::size_t>(Drop::kCount)] = {};
  };

  /// Lets the targets work; when the next thing is due, in nanoseconds from now, at most `most_ns`.
  std::uint64_t serve(std::uint64_t most_ns);
  /// The target's tracing ends. Its records and their names, what it has aggregated and how much it
  /// has dropped are here then.
  void leave(Traced& traced);
  void ask_names(Traced& traced);
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
  /// Or until a target has something to work on, or the file can be written: -1: there is none.
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
