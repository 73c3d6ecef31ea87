#pragma once

#include <cstddef>
#include <cstdint>

#include "vm/include/erl_driver.h"

/// The bytes of one port that talks through descriptors (pipes of a child process, descriptors
/// given by number): reading with {packet, N} taken apart, writing with the port's queue for what
/// the other side does not take yet. Belongs to a driver instance; used in the port's callbacks
/// only.
///
/// A function that says the port has failed (or ended) has told the machine so already: the
/// instance may be gone, nothing of it may be touched.
namespace vmrun {

class ByteStream {
 public:
  struct Options {
    int in = -1, out = -1;      // descriptors; -1: none
    unsigned packet_bytes = 0;  // 1, 2, 4: length in front of each message, big-endian; 0: a stream
    bool own = true;  // the descriptors are ours: they are made non-blocking, and closed by stop_select
    std::size_t queue_low = 4096,
                queue_high =
                    8192;  // bytes held back when the port stops and starts being busy; high 0: never busy
  };

  void start(ErlDrvPort port, const Options& options);
  /// Lets go of the descriptors. Partial messages are dropped.
  void stop();

  enum class Read { kMore, kEnd, kFailed };
  /// ready_input: delivers what is there. kEnd: the other side has closed; the caller says what
  /// that means. kFailed: driver_failure_posix has been called.
  Read read_ready();
  /// outputv: writes or queues. False when the port has failed.
  bool write(ErlIOVec* data);
  /// ready_output. Likewise.
  bool write_ready();

  /// No more input is waited for.
  void end_input();
  int out() const { return options_.out; }

 private:
  /// Bytes to deliver, messages cut out; false when memory for a message is not to be had.
  bool take(const std::uint8_t* bytes, std::size_t size);
  Read failed(int error);
  bool add_header(ErlIOVec* data, char* header);
  /// Writes of the port's queue what the other side takes. False when the port has failed.
  bool write_queue();
  bool fail_write(int error);
  long write_some(SysIOVec* vectors, int count);

  ErlDrvPort port_ = nullptr;
  Options options_;
  // A message that has come in part.
  std::uint8_t header_[4];
  unsigned header_have_ = 0;
  ErlDrvBinary* body_ = nullptr;
  std::size_t body_have_ = 0;
  bool reading_ = false, busy_ = false;
};

}  // namespace vmrun
