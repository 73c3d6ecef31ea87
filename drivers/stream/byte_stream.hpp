// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "vm/include/erl_driver.h"

/// The bytes of one port that communicates through descriptors (pipes of a child process,
/// descriptors given by number). It cuts input into messages of {packet, N}, and keeps output in
/// the port's queue while the other side does not take it. Belongs to a driver instance; used in
/// the port's callbacks only.
///
/// A function that reports a failure or the end has already told the machine. The instance may be
/// gone, and must not be touched any more.
namespace vmrun {

class ByteStream {
 public:
  struct Options {
    int in = -1, out = -1;      // descriptors; -1: none
    unsigned packet_bytes = 0;  // 1, 2, 4: length in front of each message, big-endian; 0: a stream
    bool own = true;            // made non-blocking, and closed by stop_select; false: others use them too
    std::size_t queue_low = 4096,
                queue_high =
                    8192;  // bytes held back when the port stops and starts being busy; high 0: never busy
  };

  void start(ErlDrvPort port, const Options& options);
  /// Releases the descriptors. Partial messages are dropped.
  void stop();

  enum class Read { kMore, kEnd, kFailed };
  /// For ready_input: delivers available bytes. kEnd: the other side has closed; the caller decides
  /// what that means. kFailed: driver_failure_posix has been called.
  Read read_ready();
  /// For outputv: writes or queues. Returns false when the port has failed.
  bool write(ErlIOVec* data);
  /// For ready_output. Returns false when the port has failed.
  bool write_ready();

  /// Stops waiting for input.
  void end_input();
  int out() const { return options_.out; }

 private:
  /// Cuts messages out of the bytes and delivers them. Returns false when there is no memory for a
  /// message.
  bool take(const std::uint8_t* bytes, std::size_t size);
  Read failed(int error);
  bool add_header(ErlIOVec* data, char* header);
  /// Writes as much of the port's queue as the other side takes. Returns false when the port has
  /// failed.
  bool write_queue();
  bool fail_write(int error);
  long write_some(SysIOVec* vectors, int count);

  ErlDrvPort port_ = nullptr;
  Options options_;
  // A message that has arrived in part.
  std::uint8_t header_[4];
  unsigned header_have_ = 0;
  ErlDrvBinary* body_ = nullptr;
  std::size_t body_have_ = 0;
  bool reading_ = false, busy_ = false;
};

}  // namespace vmrun
