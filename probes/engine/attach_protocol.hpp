// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/engine/host.hpp"
#include "probes/engine/session.hpp"

/// The protocol between vmtrace and the machine: messages over a stream socket of the local domain.
/// Each message is a Head and its bytes. One connection is one session (session.hpp).
///
///   vmtrace                         machine
///   kHello version                  kProbes: the list of probes, or kRefused text
///   kProgram bytes                  kReady, or kRefused text
///   kGo                             kRing number cpu, and a descriptor (SCM_RIGHTS), once a thread
///                                   fires first
///   kAggregations clear...          kAggregations elements
///   kAtoms numbers                  kNames texts
///   kAddresses addresses            kNames texts
///   kAtomsFrom index                kAtomsFrom atoms
///   kFunctionNames numbers          kNames texts
///   kFunctions pattern              kFunctions functions
///   kNode                           kNames text
///   kDrops                          kDrops counts
///   kFirings                        kFirings count
///   kTotals                         kTotals: the state of the whole machine
///   kStop (END runs)                kStopped
///                                   kExit status, when a script calls exit()
///
/// This protocol also goes over any stream between vmtrace here and one beside a machine on another
/// host (`vmtrace --relay`). The relay passes on to the machine what it does not know itself. Rings
/// stay there, and their contents travel:
///
///   kClock                          kClock
///   kTaken bytes                    kRecords, kSettled: all of them without having been asked
///
/// Closing the connection undoes everything; END is not run. When the machine ends of itself, it
/// runs END and sends kStopped without having been asked.
///
/// Numbers are in the machine's byte order, u32 unless said otherwise; a text is its length and
/// its bytes. Bodies:
///   kHello         version
///   kProbes        version, count; of each probe provider, module, function, name (texts), number
///                  of arguments, of each its name and kind
///   kProgram       to_bytes (program.hpp)
///   kRefused       a text
///   kRing          number, cpu, u64 bytes
///   kAggregations  those to be cleared; the answer: count, of each element aggregation, key
///                  (text), number of values, u64 values
///   kAtoms, kAddresses, kFunctionNames  u64 each, kMostNames at most
///   kAtomsFrom     index; the answer: u64 number and text of the atoms from there on, not all when
///                  they are many
///   kFunctions     module, function (patterns), arity (all ones: any), how many at most; the
///                  answer: count, of each module and function (texts), arity
///   kNames         a text for each that was asked for, empty when there is none; of a function
///                  its module, NUL, its name
///   kNode          the answer: one text, the name of the machine's node
///   kDrops         u64 of each Drop
///   kFirings       u64: of all sessions of the machine, since any time
///   kTotals        the answer: pack_totals of totals.hpp
///   kExit          status
///   kClock         the answer: u64 timestamp there, u64 process number of the machine
///   kRecords       of one ring, whole records: number, u64 thread, u64 bytes of the ring, 1 if it
///                  is full for good, u64 of each Drop, then a text of the words
///   kSettled       u64 timestamp: records that are not younger have all been sent
///   kTaken         u64: bytes of the bodies of all kRecords so far that have left the connection
namespace vmrun::d {

inline constexpr std::uint32_t kWireVersion = 2;

// How a machine is reached. It handles the signal SIGRTMIN + kAttachSignal from its start, so that
// the signal never ends a process. For a while after the signal, it listens on a socket that no
// longer has a name in the file system. One of its descriptors is of the socket's file, and the
// last part of the name that the file had begins with kEndpointName. A machine that is started
// under trace has its end of a connection already: kTraceVariable holds the number of the
// descriptor. Such a machine waits there for kGo before its first instruction.
inline constexpr int kAttachSignal = 5;  // SIGRTMIN + 5
inline constexpr char kEndpointName[] = "vmrun-trace-";
inline constexpr char kTraceVariable[] = "VMRUN_TRACE_FD";

enum class Message : std::uint32_t {
  kHello = 1,
  kProbes,
  kProgram,
  kReady,
  kRefused,
  kGo,
  kRing,
  kAggregations,
  kAtoms,
  kAddresses,
  kNames,
  kDrops,
  kStop,
  kStopped,
  kExit,
  kAtomsFrom,
  kFirings,
  kFunctionNames,
  kFunctions,
  kNode,
  kClock,
  kRecords,
  kSettled,
  kTaken,
  kTotals
};

struct Head {
  Message message;
  std::uint32_t bytes;  // length of what follows
};
inline constexpr std::uint32_t kLongestMessage = 64 << 20;
inline constexpr std::size_t kMostNames = 4096;  // the most that one kAtoms or kAddresses asks for

/// Builds the body of a message.
class Packer {
 public:
  Packer& u32(std::uint32_t n) { return raw(&n, sizeof n); }
  Packer& u64(std::uint64_t n) { return raw(&n, sizeof n); }
  Packer& text(std::string_view t) {
    u32(static_cast<std::uint32_t>(t.size()));
    return raw(t.data(), t.size());
  }
  std::string bytes;

 private:
  Packer& raw(const void* at, std::size_t n) {
    bytes.append(static_cast<const char*>(at), n);
    return *this;
  }
};

/// Reads the body of a message. Beyond its end everything is 0 or empty, and ok is false from then
/// on.
class Unpacker {
 public:
  explicit Unpacker(std::string_view body) : rest_(body) {}
  std::uint32_t u32();
  std::uint64_t u64();
  std::string text();
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  bool take(void* to, std::size_t n);
  std::string_view rest_;
  bool ok_ = true;
};

/// Returns why a machine refuses a peer that says hello in this version; empty when it does not.
std::string_view refusal(std::uint32_t version, bool has_probes);
std::string pack_probes(const std::vector<ProbeInfo>& probes);
[[nodiscard]] bool unpack_probes(std::string_view body, std::vector<ProbeInfo>& probes);
std::string pack_elements(const std::vector<Element>& elements);
[[nodiscard]] bool unpack_elements(std::string_view body, std::vector<Element>& elements);
/// A function as vmtrace lists it.
struct ListedFunction {
  std::string module, function;
  unsigned arity = 0;
};
std::string pack_functions(const std::vector<FunctionName>& functions);
[[nodiscard]] bool unpack_functions(std::string_view body, std::vector<ListedFunction>& functions);
std::string pack_names(const std::vector<std::string>& names);
[[nodiscard]] bool unpack_names(std::string_view body, std::vector<std::string>& names);

/// One end of a connection. It owns the descriptor, and one thread uses it. Messages wait here when
/// the other side does not read, so the machine never waits for it.
class Channel {
 public:
  /// Whether descriptors that come along are kept. The machine takes none, because a descriptor
  /// that a peer passes to it would stay open there.
  enum class Descriptors { kTaken, kRefused };
  Channel(int descriptor, Descriptors descriptors)
      : descriptor_(descriptor), out_descriptor_(descriptor), descriptors_(descriptors) {}
  /// Works over any two descriptors, which the caller keeps. No descriptor can go along.
  Channel(int in, int out);
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) = delete;
  ~Channel();

  int descriptor() const { return descriptor_; }
  int out_descriptor() const { return out_descriptor_; }
  /// passed: a descriptor that goes along, or -1. It is closed when it has been sent.
  void send(Message message, std::string_view body = {}, int passed = -1);
  /// Sends waiting messages as far as the other side takes them. Returns false when the connection
  /// is gone.
  [[nodiscard]] bool flush();
  bool wants_to_send() const { return sent_ < out_.size(); }
  std::size_t waiting_bytes() const { return out_.size() - sent_; }

  struct Received {
    Message message;
    std::string body;
    int passed = -1;  // the receiver has to close it
  };
  /// Reads what is there, but only so much at once that a peer that writes without end does not
  /// keep others waiting; poll reports the rest. Returns false when the connection is gone, or when
  /// what came is not a message. What came before that can still be taken.
  [[nodiscard]] bool fill();
  /// Takes the next whole message that has come.
  bool take(Received& received);
  /// Waits for the next message, and sends waiting ones meanwhile; timeout_ms -1 stands for ever.
  /// Returns false when the connection is gone or the time is up.
  [[nodiscard]] bool wait(Received& received, int timeout_ms);

 private:
  struct Passed {
    std::size_t at;  // it goes with this byte
    int descriptor;
  };
  void forget_sent();
  std::ptrdiff_t write_some();
  std::ptrdiff_t read_some(char* buffer, std::size_t size);

  int descriptor_, out_descriptor_;
  bool is_plain_ = false;  // not a socket: read and write will do
  Descriptors descriptors_;
  std::string out_, in_;
  std::size_t sent_ = 0, taken_ = 0;
  std::vector<Passed> passing_;  // to be sent, by place in out_
  std::vector<int> arrived_;     // received, for the kRing messages in their order
  bool broken_ = false;
};

}  // namespace vmrun::d
