// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "probes/engine/aggregation.hpp"
#include "probes/engine/host.hpp"
#include "probes/engine/memory.hpp"
#include "probes/engine/operations.hpp"
#include "probes/engine/program_verifier.hpp"
#include "probes/engine/ring.hpp"
#include "probes/engine/script_variables.hpp"
#include "probes/engine/speculation.hpp"

/// What a running session consists of within the engine: what its threads share, and what each
/// firing thread has for itself.
namespace vmrun::d {

enum class Phase : std::uint8_t { kNew, kBeginning, kRunning, kStopped, kEnding, kEnded };

/// What all threads of a session share.
struct Shared {
  Program program;
  Host& host;
  Globals globals;
  DynamicVariables dynamic;
  Speculations speculations;
  std::uint32_t pid = 0, ppid = 0, uid = 0, gid = 0;
  std::string provider;  // of the host's probes, with that number
  std::string execname;
  // exit() sets any phase to kStopped. Firings of other threads see it soon, which suffices.
  std::atomic<Phase> phase{Phase::kNew};
  std::atomic<bool> exit_called{false};  // the status of the first call counts
  std::atomic<bool> exiting{false};
  std::atomic<std::int64_t> exit_status{0};

  explicit Shared(Program p, Host& h) : program(std::move(p)), host(h) {}
  /// Fills in what stays the same, from pid to execname, and own_probes.
  void describe_process();
  /// Returns false when there is no memory.
  bool open_variables();
  /// Returns provider, module, function and name of a probe, which may be one of the session's own.
  const ProbeInfo& probe(std::uint32_t number) const;
  std::vector<ProbeInfo> own_probes;  // BEGIN, END, ERROR, then the timers
};

/// One thread that fires. Only that thread touches it, except for the tables of aggregations
/// (aggregation.hpp).
struct Thread {
  static constexpr std::size_t kKeyWords = 16384, kRecordWords = 65536;
  // The most bytes of texts that one firing may go through.
  static constexpr std::int64_t kFuel = 8 << 20;

  explicit Thread(Shared& s) : shared(s) {}
  Thread(const Thread&) = delete;
  ~Thread();
  /// Returns false when there is no memory.
  bool open(std::uint32_t number);

  Shared& shared;
  Memory memory;
  std::unique_ptr<Ring> ring;
  AggregationTable tables[2];
  std::atomic<AggregationTable*> table{nullptr};  // the firing thread uses it; the controlling one sets it
  Thread* next = nullptr;                         // the session's next thread
  std::uint64_t tid = 0;
  bool inside = false;  // a firing within a firing does nothing

  // State of one firing.
  std::uint64_t now = 0;  // timestamp; 0: not asked yet
  std::int64_t fuel = 0;
  AggregationTable* current = nullptr;

  // State of one clause.
  std::uint64_t* key = nullptr;  // the first word is for the number of the process or thread
  std::size_t key_words = 1;
  std::uint64_t* record = nullptr;
  std::size_t record_words = 0;
  bool record_overflow = false, redirected = false;
  std::uint64_t speculation = 0;
  std::uint32_t clause = 0;  // number of the clause
  std::uint64_t action = 0;  // the last that was begun, + 1, or 1; 0: the predicate

  struct {
    FaultKind kind = FaultKind::kUnknown;
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
  } fault;

  // The text that strtok works on, which is kept, and the place in it.
  std::string token_text;
  std::size_t token_at = 0;
  bool has_token = false;

  std::uint64_t random = 0;

  std::uint64_t timestamp();
  /// Returns the action as a Fault has it.
  std::uint64_t action_in_clause() const;
  bool fail(FaultKind kind, std::uint64_t address = 0) {
    fault.kind = kind;
    fault.address = address;
    return false;
  }
  /// Gives a text of the script's. strsize counts its NUL, so the text has at most strsize - 1
  /// bytes. Returns false at a fault.
  bool text(Address a, std::string_view& out);
  /// Allocates for alloca() and copyin(), scratchsize at most for all calls of a clause. Returns
  /// false at a fault.
  bool allocate(std::uint64_t bytes, Address& out);
  /// Makes a copy in scratch memory. Returns false at a fault.
  bool make_text(std::string_view text, Address& out);

 private:
  char* block_ = nullptr;  // scratch, frame, key, record
  std::size_t block_bytes_ = 0;
};

/// Runs a verified predicate or body. Returns false at a fault, which thread.fault describes.
bool run(Thread& thread, const Instruction* code, const Firing& firing, std::uint64_t& result);

/// Runs a subroutine that the machine does not provide. Returns false at a fault.
bool call_subroutine(Thread& thread, Subroutine which, const std::uint64_t* arguments, std::uint64_t& result);

}  // namespace vmrun::d
