#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/engine/host.hpp"
#include "probes/engine/session.hpp"

/// What vmtrace and the machine say to each other: messages over a stream socket of the local
/// domain, each a Head and its bytes. One connection is one session (session.hpp).
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
///   kStop (END runs)                kStopped
///                                   kExit status, when a script calls exit()
///
/// Between vmtrace here and one that stands beside a machine on another host (`vmtrace --relay`)
/// the same goes over any stream; what it does not know it hands on to the machine. Rings stay
/// there, what is in them travels:
///
///   kClock                          kClock
///   kTaken bytes                    kRecords, kSettled: all of them without having been asked
///
/// Closing the connection undoes everything, END is not run. When the machine ends of itself it
/// runs END and says kStopped without having been asked.
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
///   kExit          status
///   kClock         the answer: u64 timestamp there, u64 process number of the machine
///   kRecords       of one ring, whole records: number, u64 thread, u64 bytes of the ring, 1 if it
///                  is full for good, u64 of each Drop, then a text of the words
///   kSettled       u64 timestamp: records that are not younger have all been sent
///   kTaken         u64: bytes of the bodies of all kRecords so far that have left the connection
namespace vmrun::d {

inline constexpr std::uint32_t kWireVersion = 2;

// How a machine is reached. It handles the signal SIGRTMIN + kAttachSignal from its start, so that
// asking never ends a process. Then, for a while, it listens on a socket that has no name in the
// file system any more: one of its descriptors is of the socket's file, and the last part of the
// name that the file had begins with kEndpointName. A machine that is started under trace has its
// end of a connection already, and kTraceVariable holds the number of the descriptor. It waits
// there for kGo before its first instruction.
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
  kTaken
};

struct Head {
  Message message;
  std::uint32_t bytes;  // that follow
};
inline constexpr std::uint32_t kLongestMessage = 64 << 20;
inline constexpr std::size_t kMostNames = 4096;  // asked for by one kAtoms or kAddresses

/// The body of a message in the making.
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

/// Reads one. Beyond its end everything is 0 or empty, and ok is false from then on.
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

/// Why a machine refuses who says hello in this version; empty: it does not.
std::string_view refusal(std::uint32_t version, bool has_probes);
std::string pack_probes(const std::vector<ProbeInfo>& probes);
[[nodiscard]] bool unpack_probes(std::string_view body, std::vector<ProbeInfo>& probes);
std::string pack_elements(const std::vector<Element>& elements);
[[nodiscard]] bool unpack_elements(std::string_view body, std::vector<Element>& elements);
/// As vmtrace has them.
struct ListedFunction {
  std::string module, function;
  unsigned arity = 0;
};
std::string pack_functions(const std::vector<FunctionName>& functions);
[[nodiscard]] bool unpack_functions(std::string_view body, std::vector<ListedFunction>& functions);
std::string pack_names(const std::vector<std::string>& names);
[[nodiscard]] bool unpack_names(std::string_view body, std::vector<std::string>& names);

/// One end of a connection. Owns the descriptor; one thread. What is to be sent waits here when the
/// other side does not read, so that the machine never waits for it.
class Channel {
 public:
  /// Whether descriptors that come along are kept. The machine takes none: what anybody passes to
  /// it would stay open there.
  enum class Descriptors { kTaken, kRefused };
  Channel(int descriptor, Descriptors descriptors)
      : descriptor_(descriptor), out_descriptor_(descriptor), descriptors_(descriptors) {}
  /// Over any two descriptors, which stay the caller's. Nothing can go along.
  Channel(int in, int out);
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) = delete;
  ~Channel();

  int descriptor() const { return descriptor_; }
  int out_descriptor() const { return out_descriptor_; }
  /// passed: a descriptor that goes along, or -1; it is closed when it has been sent.
  void send(Message message, std::string_view body = {}, int passed = -1);
  /// Sends what waits as far as the other side takes it. False: the connection is gone.
  [[nodiscard]] bool flush();
  bool wants_to_send() const { return sent_ < out_.size(); }
  std::size_t waiting_bytes() const { return out_.size() - sent_; }

  struct Received {
    Message message;
    std::string body;
    int passed = -1;  // the receiver's to close
  };
  /// Reads what is there, so much at once that who writes without end does not keep others waiting:
  /// poll tells of the rest. False: the connection is gone, or what came is no message; what came
  /// before that can still be taken.
  [[nodiscard]] bool fill();
  /// The next whole message that has come.
  bool take(Received& received);
  /// Waits for the next message, sending what is to be sent meanwhile; timeout_ms -1: for ever.
  /// False: the connection is gone, or the time is up.
  [[nodiscard]] bool wait(Received& received, int timeout_ms);

 private:
  struct Passed {
    std::size_t at;  // goes with this byte
    int descriptor;
  };
  void forget_sent();
  std::ptrdiff_t write_some();
  std::ptrdiff_t read_some(char* buffer, std::size_t size);

  int descriptor_, out_descriptor_;
  bool is_plain_ = false;  // no socket: read and write will do
  Descriptors descriptors_;
  std::string out_, in_;
  std::size_t sent_ = 0, taken_ = 0;
  std::vector<Passed> passing_;  // to be sent, by place in out_
  std::vector<int> arrived_;     // came, for the kRing messages in their order
  bool broken_ = false;
};

}  // namespace vmrun::d
