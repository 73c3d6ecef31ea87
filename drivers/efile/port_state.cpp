// SPDX-License-Identifier: Apache-2.0
#include "drivers/efile/port_state.hpp"

#include <cerrno>

#include "drivers/efile/reply.hpp"

namespace vmrun::efile {

Settings settings;

namespace {

// bytes of a command that are read first; the data behind them are not copied
constexpr std::size_t kCommandBytes = 512;
constexpr std::size_t kSpareBytes = 4096;  // memory worth keeping
constexpr std::size_t kGathered = 16 * 1024;

void invoke(void* op) { run(*static_cast<Operation*>(op)); }
void discard(void* op) { delete static_cast<Operation*>(op); }

bool runs_inline(Command c) { return command_row(c).level <= settings.inline_level; }

/// Decodes a command into the operation. Returns 0 or an errno.
int read_command(ErlIOVec& in, Operation& op, std::size_t* data_at) {
  for (std::size_t size = std::min(in.size, kCommandBytes);; size = std::min(in.size, 2 * size)) {
    op.bytes.resize(size);
    driver_vec_to_buf(&in, op.bytes.data(), size);
    switch (decode(op.bytes.data(), size, in.size, &op.request, data_at)) {
      case Decoded::kDone: return 0;
      case Decoded::kInvalid: return EINVAL;
      case Decoded::kNeedMore: break;
    }
  }
}

}  // namespace

// ---- Operations ---------------------------------------------------------------------------------

OperationPtr FilePort::new_operation() {
  OperationPtr op = spare_ ? std::move(spare_) : std::make_unique<Operation>();
  op->in_pieces = !settings.has_threads;
  return op;
}

/// Resets an operation, except for the memory of the command's bytes.
void FilePort::recycle(OperationPtr op) {
  if (spare_ || op->bytes.capacity() > kSpareBytes) return;
  std::vector<char> bytes = std::move(op->bytes);
  Operation* memory = op.get();
  memory->~Operation();
  new (memory) Operation;
  memory->bytes = std::move(bytes);
  spare_ = std::move(op);
}

/// Keeps an operation whose command was only decoded. Decoding the next command sets the same
/// fields again.
void FilePort::put_aside(OperationPtr op) {
  if (!spare_ && op->bytes.capacity() <= kSpareBytes) spare_ = std::move(op);
}

FilePort::~FilePort() {
  if (!file_.is_open()) return;
  auto op = std::make_unique<Operation>();
  op->request.command = Command::kClose;
  op->file = file_;
  op->owns_file = true;
  identify(*op, nullptr);
  if (runs_inline(Command::kClose)) run(*op);
  else driver_async(port_, &key_, invoke, op.release(), discard);
}

// ---- A command arrives --------------------------------------------------------------------------

OpenState FilePort::open_state() const { return {file_.fd, file_.flags, buffer_.begin(), read_ahead_ != 0}; }

int FilePort::check(const Request& r) const {
  switch (command_row(r.command).needs_open) {
    case kNeedsNothing: return r.command == Command::kOpen && file_.is_open() ? EINVAL : 0;
    case kNeedsFile: return file_.is_open() ? 0 : EBADF;
    case kNeedsReadable: return file_.is_open() && file_.flags & kModeRead ? 0 : EBADF;
    default: return file_.is_open() && file_.flags & kModeWrite ? 0 : EBADF;
  }
}

/// Returns true after answering a command that needs no work.
bool FilePort::answer_at_once(const Request& r) {
  switch (r.command) {
    case Command::kRead:
      if (r.size) return answer_from_buffer(r);
      reply_data(port_, nullptr, 0);
      return true;
    case Command::kReadLine: return answer_from_buffer(r);
    case Command::kWrite:
      if (!r.size) reply_number(port_, 0);
      return !r.size;
    case Command::kPwritev:
      if (r.pieces.empty()) reply_number(port_, 0);
      return r.pieces.empty();
    case Command::kPreadv:
      if (r.pieces.empty()) reply_no_pieces(port_);
      return r.pieces.empty();
    default: return false;
  }
}

/// Answers a READ or READ_LINE whose bytes have all been read ahead.
bool FilePort::answer_from_buffer(const Request& r) {
  const std::size_t unread = buffer_.unread();
  if (!unread || !is_idle() || unsent_) return false;
  std::size_t size = r.size;
  if (r.command == Command::kReadLine) {
    const void* feed = std::memchr(buffer_.bytes(), '\n', unread);
    if (!feed) return false;
    size = static_cast<std::size_t>(static_cast<const char*>(feed) - buffer_.bytes()) + 1;
    if (size >= 2 && buffer_.bytes()[size - 2] == '\r') {
      std::string line(buffer_.bytes(), size - 2);
      line.push_back('\n');
      reply_data(port_, line.data(), line.size());
      buffer_.consume(size);
      return true;
    }
  } else if (size > unread) {
    return false;
  }
  // Small pieces are copied, so that a process that keeps one does not keep the whole buffer.
  if (size < buffer_.data().size() / 8) reply_data(port_, buffer_.bytes(), size);
  else reply_data(port_, buffer_.data().get(), buffer_.begin(), size);
  buffer_.consume(size);
  return true;
}

void FilePort::set_option(OperationPtr op) {
  const Request& r = op->request;
  identify(*op, r.user_tag);
  fire_entry(*op, open_state(), port_);
  if (r.option == kOptionDelayedWrite) {
    write_limit_ = r.size;
    write_delay_ms_ = r.delay_ms;
  } else {
    read_ahead_ = r.size;
  }
  reply_ok(port_);
  fire_return(*op);
  recycle(std::move(op));
}

void FilePort::command(ErlIOVec& in) {
  OperationPtr op = new_operation();
  std::size_t data_at = 0;
  int error = read_command(in, *op, &data_at);
  if (!error) error = check(op->request);
  const CommandRow& row = command_row(op->request.command);
  if (!error && write_error_ && is_idle() && (row.flushes_writes || op->request.command == Command::kWrite))
    error = std::exchange(write_error_, 0);
  if (!error && op->request.command == Command::kPwritev && !op->data.add(in, data_at, op->request.size))
    error = ENOMEM;
  if (error) {
    if (op->request.command == Command::kPwritev) {
      op->error = error;
      reply_result(port_, *op);
    } else {
      reply_error(port_, error);
    }
    return recycle(std::move(op));
  }
  if (op->request.command == Command::kSetopt) return set_option(std::move(op));
  if (answer_at_once(op->request)) return put_aside(std::move(op));
  const char* user_tag = op->request.user_tag;
  settle(row, user_tag);
  if (op->request.command == Command::kWrite) accept_write(std::move(op), in, data_at);
  else accept(std::move(op), user_tag);
  pump();
}

/// Copies a small delayed write into a binary with others, which is cheaper than keeping the binary
/// of each. Returns false when the write is not copied.
bool FilePort::gather(const Operation& op, std::size_t data_at) {
  const std::size_t size = op.request.size;
  if (!write_limit_ || data_at + size > op.bytes.size()) return false;
  if (!gathered_ || gathered_.size() - gathered_size_ < size) {
    if (!gathered_.allocate(kGathered)) return false;
    gathered_size_ = 0;
  }
  std::memcpy(gathered_.bytes() + gathered_size_, op.bytes.data() + data_at, size);
  driver_enq_bin(port_, gathered_.get(), gathered_size_, size);
  gathered_size_ += size;
  return true;
}

/// A write is answered at once while there is room. The write that exceeds the limit sends all of
/// them to the file, and is answered when that is done.
void FilePort::accept_write(OperationPtr op, ErlIOVec& in, std::size_t data_at) {
  const std::size_t size = op->request.size;
  if (!gather(*op, data_at)) driver_enqv(port_, &in, data_at);
  unsent_ += size;
  if (unsent_ >= write_limit_) {
    op->request.size = std::exchange(unsent_, 0);
    op->reply_size = size;
    const char* user_tag = op->request.user_tag;
    if (timer_ == Timer::kDelayedWrite) {
      driver_cancel_timer(port_);
      timer_ = Timer::kOff;
    }
    return accept(std::move(op), user_tag);
  }
  if (timer_ == Timer::kOff) {
    driver_set_timer(port_, write_delay_ms_);
    timer_ = Timer::kDelayedWrite;
  }
  reply_number(port_, size);
  put_aside(std::move(op));
}

/// Does what must happen before the command: buffered writes go out, and the position moves back to
/// where the process expects it.
void FilePort::settle(const CommandRow& row, const char* user_tag) {
  if (row.rewinds && buffer_.unread() && is_idle()) waiting_.push_back(make_rewind(user_tag));
  if (row.flushes_writes && unsent_) write_unsent(user_tag);
}

void FilePort::accept(OperationPtr op, const char* user_tag) {
  op->request.user_tag = user_tag;
  identify(*op, user_tag);
  fire_entry(*op, open_state(), port_);
  waiting_.push_back(std::move(op));
}

// ---- Operations of the driver's own -------------------------------------------------------------

void FilePort::write_unsent(const char* user_tag) {
  if (timer_ == Timer::kDelayedWrite) {
    driver_cancel_timer(port_);
    timer_ = Timer::kOff;
  }
  OperationPtr op = new_operation();
  op->silent = true;
  op->request.command = Command::kWrite;
  op->request.size = std::exchange(unsent_, 0);
  accept(std::move(op), user_tag);
}

OperationPtr FilePort::make_rewind(const char* user_tag) {
  OperationPtr op = new_operation();
  op->silent = true;
  op->request.command = Command::kLseek;
  op->request.offset = -static_cast<std::int64_t>(buffer_.unread());
  op->request.option = 1;
  op->request.user_tag = user_tag;
  identify(*op, user_tag);
  fire_entry(*op, open_state(), port_);
  return op;
}

// ---- Work ---------------------------------------------------------------------------------------

/// Starts waiting operations as long as each is done at once (+A 0). A loop, because such work
/// calls back from inside.
[[gnu::no_stack_protector]] void FilePort::pump() {
  if (pumping_) return;
  pumping_ = true;
  while (!running_ && !waiting_.empty()) {
    if (stands_in_the_way(*waiting_.front())) continue;
    OperationPtr op = std::move(waiting_.front());
    waiting_.pop_front();
    start(std::move(op));
  }
  pumping_ = false;
}

/// Checks what was not known when the command arrived, because others were in front of it. Returns
/// true when something else comes first, or the command has been answered.
bool FilePort::stands_in_the_way(Operation& next) {
  const Command command = next.request.command;
  const CommandRow& row = command_row(command);
  const bool tells = !next.silent && (row.flushes_writes || command == Command::kWrite);
  int error = tells && write_error_ ? std::exchange(write_error_, 0) : 0;
  if (!error && command == Command::kOpen && file_.is_open()) error = EINVAL;
  if (error) {
    OperationPtr op = std::move(waiting_.front());
    waiting_.pop_front();
    op->error = error;
    finish(std::move(op));
    return true;
  }
  const bool is_rewind = next.silent && command == Command::kLseek;
  if (!row.rewinds || is_rewind || next.rewound || !buffer_.unread()) return false;
  next.rewound = true;
  waiting_.push_front(make_rewind(next.request.user_tag));
  return true;
}

void FilePort::prepare(Operation& op) {
  switch (op.request.command) {
    case Command::kOpen:
    case Command::kReadFile: return;
    case Command::kClose:
      op.file = std::exchange(file_, File{});
      op.owns_file = true;
      buffer_.clear();
      return;
    case Command::kRead:
    case Command::kReadLine:
    case Command::kLseek:
      op.buffer = std::move(buffer_);
      op.read_ahead = read_ahead_;
      break;
    case Command::kWrite: {
      ErlIOVec queue;
      driver_peekqv(port_, &queue);
      if (!op.data.add(queue, 0, op.request.size)) op.error = ENOMEM;
      break;
    }
    default: break;
  }
  op.file = file_;
}

void FilePort::start(OperationPtr op) {
  prepare(*op);
  if (op->error) return finish(std::move(op));
  running_ = true;
  work(std::move(op));
}

void FilePort::work(OperationPtr op) {
  if (runs_inline(op->request.command)) {
    op->in_pieces = false;
    do run(*op);
    while (op->again);
    running_ = false;
    return finish(std::move(op));
  }
  driver_async(port_, &key_, invoke, op.release(), discard);
}

void FilePort::ready(OperationPtr op) {
  if (op->again && settings.has_threads) return work(std::move(op));
  if (op->again) {
    // Other tasks run between two parts.
    parked_ = std::move(op);
    timer_ = Timer::kNextPart;
    driver_set_timer(port_, 0);
    return;
  }
  running_ = false;
  finish(std::move(op));
  pump();
}

void FilePort::timeout() {
  const Timer what = std::exchange(timer_, Timer::kOff);
  if (what == Timer::kNextPart) {
    work(std::move(parked_));
    if (timer_ == Timer::kOff && unsent_) {
      driver_set_timer(port_, write_delay_ms_);
      timer_ = Timer::kDelayedWrite;
    }
    return;
  }
  if (unsent_) write_unsent(nullptr);
  pump();
}

void FilePort::flush() {
  if (unsent_) write_unsent(nullptr);
  pump();
}

/// Takes back what the port has lent, and keeps the file that was opened.
void FilePort::take_back(Operation& op) {
  switch (op.request.command) {
    case Command::kOpen:
      if (!op.error) file_ = op.file;
      op.owns_file = false;
      return;
    case Command::kWrite: driver_deq(port_, op.request.size); return;
    case Command::kLseek:
      // If there is no position to move back, the bytes that were read ahead stay.
      if (!op.silent || !op.error) op.buffer.clear();
      [[fallthrough]];
    case Command::kRead:
    case Command::kReadLine: buffer_ = std::move(op.buffer); return;
    default: return;
  }
}

void FilePort::finish(OperationPtr op) {
  take_back(*op);
  if (!op->silent) reply_result(port_, *op);
  else if (op->error && op->request.command == Command::kWrite) write_error_ = op->error;
  // After the attempt the file is closed, whatever the system has answered.
  if (op->request.command == Command::kClose && !file_.is_open()) op->error = 0;
  fire_return(*op);
  recycle(std::move(op));
}

}  // namespace vmrun::efile
