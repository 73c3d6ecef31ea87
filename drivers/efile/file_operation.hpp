// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "drivers/efile/driver_data.hpp"
#include "drivers/efile/file.hpp"
#include "drivers/efile/file_command.hpp"
#include "drivers/efile/file_names.hpp"

/// One operation of the file driver, from its command to its reply. It holds all data that it
/// needs, so the thread that works on it does not touch the port, and the port may go away
/// meanwhile. One thread at a time owns it: the port's, then (through the queue of the async pool)
/// a worker, then the port's again.
namespace vmrun::efile {

/// Identifies an operation in all its probes (docs/probes.md, efile_drv).
struct Identity {
  int thread_id = 0, tag = 0;
  std::string user_tag;  // at most 128 bytes
};

struct Operation {
  std::vector<char> bytes;  // the command; request points into it
  Request request;
  Identity identity;
  bool silent = false;     // the driver's own operation, without an answer
  bool in_pieces = false;  // large transfers are done in parts
  bool rewound = false;    // bytes that were read ahead have been taken care of

  // Set when the operation starts.
  File file;  // the port's; CLOSE, READ_FILE and OPEN own theirs (owns_file)
  bool owns_file = false;
  ReadBuffer buffer;  // READ, READ_LINE: lent by the port
  std::size_t read_ahead = 0;
  DataVectors data;            // WRITE, PWRITEV
  std::size_t reply_size = 0;  // WRITE: bytes that this command itself has brought

  // The results.
  bool again = false;  // there is more to do: call run once more
  int error = 0;
  bool end_of_file = false;
  // OPEN: descriptor; LSEEK: position; WRITE, SENDFILE: bytes; PWRITEV, PREADV: pieces done
  std::uint64_t number = 0;
  std::uint64_t done = 0;  // bytes transferred so far
  BinaryRef result;        // bytes [0, done) are the answer
  std::string text;        // names
  FileInfo info;

  // Between two parts.
  std::size_t piece = 0;
  std::uint64_t piece_done = 0;
  std::size_t scanned = 0;  // READ_LINE: bytes searched so far

  Operation() = default;
  Operation(const Operation&) = delete;
  ~Operation();
};

/// Runs the operation: fires efile_drv-int_entry, makes the system calls, fires
/// efile_drv-int_return. Blocks. Any thread.
void run(Operation& op);

/// Large transfers under +A 0: a rest of less than kAtOnce is done at once; of a larger rest,
/// kPart.
inline constexpr std::uint64_t kAtOnce = 512 * 1024, kPart = 256 * 1024;

}  // namespace vmrun::efile
