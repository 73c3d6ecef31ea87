// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "vm/base/flat_table.hpp"
#include "vm/base/id_table.hpp"
#include "vm/base/spin_lock.hpp"
#include "vm/port/io_queue.hpp"
#include "vm/port/port_task.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/reference.hpp"
#include "vm/sched/runnable_port.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/term.hpp"
#include "vm/trace/port_trace.hpp"

/// One port: an instance of a driver that processes talk to. Its memory belongs to the port table
/// and is freed by epochs (epoch.hpp), as a process's is.
///
/// A port runs like a process: in one thread at a time, without a lock. Everything that happens to
/// it is a task (task.hpp). The thread that holds the port (run state kRunning) owns all fields but
/// those marked "any thread". A process that calls an idle port with nothing queued runs the
/// operation at once on its own scheduler; otherwise the task waits in the inbox, and a scheduler
/// runs it later. Tasks of one sender keep their order.
namespace vmrun {

struct Driver;
struct Scheduler;
struct Timer;

/// Takes a port's input and output in place of its owner: a connection to another node
/// (dist/controller_port.hpp). Called by the port's holder.
class PortPeer {
 public:
  /// Takes data from the driver. binary: the binary that `bytes` lie in, to be retained, or
  /// nullptr.
  virtual void input(Port& p, const std::uint8_t* bytes, std::size_t size, Binary* binary) = 0;
  /// Whether nothing should be read for the port now.
  virtual bool wants_no_input() = 0;
  /// Takes over the task that would have read. The peer queues it when it wants input again.
  virtual void put_off(PortTask* reading) = 0;
  /// The port is not busy any more; port-not_busy has fired. Any thread.
  virtual void not_busy(Port& p) = 0;
  /// The port closes; links and monitors have not been told yet.
  virtual void closing(Port& p, Term reason) = 0;
  /// Whether the peer has more to do before the port can be freed. all: it has to do everything
  /// now.
  virtual bool is_closing(Port& p, bool all) = 0;

 protected:
  ~PortPeer() = default;
};

struct Port : RunnablePort {
  Term id;                     // written once before the port is published
  std::atomic<Word> owner{0};  // "connected" process: a local pid. The holder changes it; any thread reads it
  // the argument of open_port: the command, driver and its arguments, IN/OUT of {fd, In, Out}
  std::string name;
  // freed with the last reference: a thread that has none and does not hold the port must not
  // follow it
  Driver* driver = nullptr;
  enum class OutputCallback : std::uint8_t { kNone, kOutput, kOutputv };
  OutputCallback output_callback =
      OutputCallback::kNone;     // what its driver does with commands; written once, like soft_busy
  bool soft_busy = false;        // commands may be forced on it while it is busy
  bool more_follows = false;     // another outputv follows the running one at once; holder only
  void* instance = nullptr;      // ErlDrvData that start returned
  long os_pid = -1;              // of the child process, for port_info; -1: none
  Term caller;                   // the process or port that has called the operation; else the non-value
  Term data = atoms::undefined;  // erlang:port_set_data: an immediate, or the root of data_fragment
  Fragment* data_fragment = nullptr;

  // Options of open_port that concern every driver.
  bool binary = false;    // data is delivered as binaries
  bool send_eof = false;  // option eof: {Port,eof} instead of closing
  bool parallelism = false;
  bool control_binary = false;    // PORT_CONTROL_FLAG_BINARY: control/3 answers with binaries
  std::uint32_t line_length = 0;  // option {line, N}: N, else 0
  std::vector<std::uint8_t> line_buffer;

  // State.
  enum class State : std::uint8_t {
    kStarting,
    kOpen,
    kClosing,
    kClosed
  };                                           // kClosing: flush has been called, the queue is not empty yet
  std::atomic<State> state{State::kStarting};  // any thread reads
  bool notify_closed = false;                  // {Port, closed} goes to the owner when the port is gone
  bool says_last = false;                      // in stop, may still send: there was nothing to flush
  bool leaves_table = false;                   // closed: release_port gives back the table's reference

  // Data that the driver has not sent yet.
  IoQueue queue;
  struct PortDataLock* data_lock = nullptr;  // driver_pdl_create

  std::shared_ptr<PortPeer> peer;  // written once, by the holder

  // Links and monitors, as a process has them.
  Links links;  // local pids (the owner among them, unless unlinked)
  Watchers monitored_by;
  FlatTable<RefKey, Term> driver_monitors;        // driver_monitor_process: target pid
  std::atomic<std::uint32_t> registered_name{0};  // any thread: atom index + 1 (registry.hpp)

  PortTracing tracing;  // what erlang:trace wants to know of the port

  Timer* timer = nullptr;  // driver_set_timer; a timeout task that finds it not fired is too late

  // Whether the port is busy (any thread reads; changes under waiters_lock). Waiters are processes
  // that are suspended in a command.
  std::atomic<bool> busy{false};        // set_busy_port
  std::atomic<bool> inbox_full{false};  // more bytes queued in tasks than the limit: suspends like busy
  SpinLock waiters_lock;
  std::vector<Term> waiters;                 // pids
  std::atomic<Word> queued_bytes{0};         // bytes of commands in the inbox
  Word inbox_low = 4096;                     // busy_limits_msgq
  std::atomic<Word> inbox_high{8192};        // any thread reads; 0: disabled
  Word queue_low = 4096, queue_high = 8192;  // busy_limits_port, for drivers that use it

  // Scheduling (task.hpp).
  enum class Run : std::uint32_t { kIdle, kWaiting, kQueued, kRunning, kGone };
  std::atomic<Run> run{Run::kIdle};
  PortTaskInbox inbox;          // any thread; closed once the port is gone
  PortTask* pending = nullptr;  // holder only: taken from the inbox, oldest first
  /// Holder only: tasks from `pending` that wait until the port is not busy, oldest first.
  PortTask* waiting_tasks = nullptr;

  std::atomic<Word> input_bytes{0}, output_bytes{0};  // port_info
  // from the table, and from all that keep a Port* past its epoch (async jobs, poll registrations)
  std::atomic<Word> references{1};

  Term owner_now() const { return Term::from_raw(owner.load(std::memory_order_relaxed)); }
  bool is_open() const { return state.load(std::memory_order_acquire) == State::kOpen; }
  ~Port();
};

/// Creates a port that is not published yet, held by the caller, with one reference.
Port* create_port(Driver& driver, Term owner, std::string name);
/// Called once it is in the table.
void profile_new_port(Port& p);
inline void retain_port(Port& p) { p.references.fetch_add(1, std::memory_order_relaxed); }
/// Retains a port that was only found, within the epoch. Returns false when its last reference is
/// gone; then its driver may be gone too.
[[nodiscard]] bool try_retain_port(Port& p);
/// Any thread. The last reference releases the driver; the memory is freed as soon as no thread can
/// be reading it.
void release_reference(Port& p);
/// Frees what epochs allow to be freed. Schedulers call it from time to time.
void reclaim_ports();

inline constexpr Word kDefaultPortLimit = Word{1} << 16, kMaxPortLimit = Word{1} << 27;

/// All ports by number. It has twice the room that programs see: files are ports here, but not in
/// OTP, and a program with the maximal number of sockets still reads files and loads code.
class PortTable : public IdTable<Port, Term, Term::port> {
 public:
  void init(Word limit) {
    IdTable::init(2 * limit, kMaxPortLimit, "the port table");
    kinds_ = map<std::atomic<Word>>(IdTable::limit(), "the port table");
    for_programs_ = limit > IdTable::limit() / 2 ? IdTable::limit() : IdTable::limit() / 2;
  }
  Word limit() const { return for_programs_; }
  /// The ports that erlang:ports/0 and system_info(port_count) report: all but the ports of files,
  /// as they were at one moment. Some may be gone by the time this returns.
  std::vector<Term> seen_by_programs();
  bool is_seen_by_programs(Term id) const;
  Word count_seen_by_programs() const;
  /// Like find, for a port that a program may still use: open, not closing.
  Port* find_open(Term id) const {
    Port* p = find(id);
    return p && p->is_open() ? p : nullptr;
  }
  /// Gives p its number and publishes it. Returns false at the limit, which does not hold for
  /// files.
  [[nodiscard]] bool add(Port& p);
  void remove(Port& p);
  /// Returns when all ports are gone and their drivers' stop callbacks are done.
  void wait_until_empty() {
    awaited_.store(true, std::memory_order_relaxed);
    for (;;) {
      const std::uint32_t seen = departures_.load(std::memory_order_acquire);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      bool any = false;
      for_each([&](const Port&) { any = true; });
      if (!any) return;
      departures_.wait(seen, std::memory_order_acquire);
    }
  }

 private:
  static Word kind(Word number, bool is_file) { return 2 * number + is_file; }

  Word for_programs_ = 0;
  // By place: the kind of the last port there. It outlives the port, of which a snapshot has only
  // the number.
  std::atomic<Word>* kinds_ = nullptr;
  std::atomic<Word> files_{0};
  std::atomic<bool> awaited_{false};
  std::atomic<std::uint32_t> departures_{0};
};
extern PortTable port_table;

/// Marks all ports for the system profile: kProfilePorts and kProfileExclusive, or neither.
void mark_profiled_ports(std::uint32_t what);

/// The bytes that all ports, including those that are gone, have had from drivers and given to
/// them.
struct PortTraffic {
  Word input, output;
};
PortTraffic port_traffic();

/// The port whose driver callback the calling thread is in; nullptr outside of callbacks.
extern thread_local Port* current_port;

// ---- For the holder: effects of drivers (driver API functions are thin wrappers) ----------------

/// Sends a message of the port to its owner. Takes the fragment over.
void deliver_to_owner(Port& p, Fragment* message);
/// Sends {Port, What}. What: an atom that says what has happened to the port.
void deliver_news(Port& p, Term what);
void send_news(Port& p, Term to, Term what);
/// Sends {Port, {data, D}}. D has the header bytes (always a list in front) and the rest as list or
/// binary, as the port's options say; with option line it is {eol | noeol, Line}.
void deliver_data(Port& p, const std::uint8_t* header, std::size_t header_size, const std::uint8_t* bytes,
                  std::size_t size);
/// Does that for a part of a binary, which is retained, not copied, if that saves anything.
void deliver_binary(Port& p, const std::uint8_t* header, std::size_t header_size, Binary* binary,
                    std::size_t offset, std::size_t size);
/// Delivers the bytes of an unfinished line.
void deliver_rest_of_line(Port& p);

/// Sets whether more commands wait in the inbox than its limits allow. Any thread.
void set_inbox_full(Port& p, bool full);
/// set_busy_port. Fires port-busy, or port-not_busy and process-port_unblocked, and wakes the
/// waiting processes. Any thread.
void set_port_busy(Port& p, bool busy);
/// Makes the calling process wait until the port takes commands again. Returns false when it does
/// now (or is gone).
[[nodiscard]] bool wait_until_not_busy(Port& p, Process& sender);

/// driver_set_timer, which replaces the former timer; called by a scheduler. driver_cancel_timer.
/// read_port_timer returns the milliseconds left; -1: no timer (or just due).
void set_port_timer(Port& p, Word milliseconds);
void cancel_port_timer(Port& p);
SWord read_port_timer(const Port& p);

/// driver_monitor_process; returns false when there is no such process. driver_demonitor_process;
/// returns false when there is no such monitor.
[[nodiscard]] bool start_driver_monitor(Port& p, Term pid, RefKey* key);
bool stop_driver_monitor(Port& p, RefKey key);

/// Starts closing the port with this reason: fires port-exit (who: the pid, or the port itself),
/// tells links and monitors, then flushes or stops. If the port is closing already, and if `who` is
/// the port itself (its driver) or the reason is kill, drops what is queued and stops. Does nothing
/// on a closed port. When it returns the driver's instance may be gone, and the state kClosed.
void close_port(Port& p, Term who, Term reason);
/// driver_failure_eof: sends {Port, eof} with option eof; else the port closes with reason normal.
/// An unfinished line is delivered first.
void close_at_eof(Port& p);
/// driver_failure_*: what is queued is dropped.
void fail_port(Port& p, Term reason);
/// Gives up the port's queue and its hold on the lock that guards the queue. The memory of the port
/// stays while other threads hold the lock.
void release_data_lock(Port& p);
/// Ends a port that is kClosed already, whether or not it was ever open: what it has set up
/// elsewhere is removed, its number becomes free, and its inbox takes no more tasks.
void remove_port(Port& p);
/// Goes on closing a port whose queue has become empty; does nothing for other ports.
void finish_closing(Port& p);

}  // namespace vmrun
