// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>

#include "drivers/efile/file_operation.hpp"
#include "drivers/efile/probes.hpp"

/// One port of the file driver: at most one open file, with its read-ahead buffer and delayed
/// writes, and the waiting operations. Only callbacks of the driver touch it, so it needs no lock.
/// One operation runs at a time; the others wait in order. Data to be written stay in the port's
/// queue until they have reached the file, so that a closing port is flushed.
namespace vmrun::efile {

/// Settings of all ports; set when the driver is registered.
struct Settings {
  bool has_threads = true;  // +A is not 0
  int inline_level = 0;     // ERL_EFILE_THREAD_SHORT_CIRCUIT: commands of this level and below need no thread
};
extern Settings settings;

using OperationPtr = std::unique_ptr<Operation>;

class FilePort {
 public:
  explicit FilePort(ErlDrvPort port) : port_(port), key_(driver_async_port_key(port)) {}
  FilePort(const FilePort&) = delete;
  /// Closes the file, after the operation that is running.
  ~FilePort();

  // The driver's callbacks.
  void command(ErlIOVec& bytes);
  void ready(OperationPtr op);
  void timeout();
  void flush();

 private:
  bool is_idle() const { return !running_ && waiting_.empty(); }
  OperationPtr new_operation();
  void recycle(OperationPtr op);
  void put_aside(OperationPtr op);

  // A command arrives.
  int check(const Request& r) const;
  bool answer_at_once(const Request& r);
  bool answer_from_buffer(const Request& r);
  void set_option(OperationPtr op);
  void accept_write(OperationPtr op, ErlIOVec& bytes, std::size_t data_at);
  bool gather(const Operation& op, std::size_t data_at);
  void settle(const CommandRow& row, const char* user_tag);
  void accept(OperationPtr op, const char* user_tag);
  OpenState open_state() const;

  // The driver's own operations.
  void write_unsent(const char* user_tag);
  OperationPtr make_rewind(const char* user_tag);

  // Work.
  void pump();
  bool stands_in_the_way(Operation& next);
  void prepare(Operation& op);
  void start(OperationPtr op);
  void work(OperationPtr op);
  void finish(OperationPtr op);
  void take_back(Operation& op);

  ErlDrvPort port_;
  unsigned key_;

  File file_;                    // operations that use it have a copy
  ReadBuffer buffer_;            // lent to the running operation
  std::size_t read_ahead_ = 0;   // bytes; 0: none
  std::size_t write_limit_ = 0;  // delayed writes go out at this number of bytes; 0: no delay
  unsigned long write_delay_ms_ = 0;
  BinaryRef gathered_;  // small delayed writes are put together here
  std::size_t gathered_size_ = 0;
  std::size_t unsent_ = 0;  // bytes at the end of the port's queue that do not belong to an operation yet
  int write_error_ = 0;     // of a write that was answered with success; the next command reports it

  std::deque<OperationPtr> waiting_;
  bool running_ = false;  // an operation is running
  OperationPtr parked_;   // that operation, between two of its parts
  bool pumping_ = false;
  enum class Timer { kOff, kDelayedWrite, kNextPart } timer_ = Timer::kOff;
  OperationPtr spare_;  // keeps its memory for the next operation
};

}  // namespace vmrun::efile
