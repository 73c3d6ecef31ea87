// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/controller_port.hpp"

#include <climits>
#include <vector>

#include "vm/base/small_limits.hpp"
#include "vm/heap/copy.hpp"
#include "vm/port/callbacks.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/task.hpp"
#include "vm/probes/fire.hpp"
#include "vm/term/node.hpp"

namespace vmrun::dist {
namespace {

constexpr int kPiece = usual_or_small(1000, 10);  // how many processes are told of the end at a time
constexpr std::size_t kBytesATurn = usual_or_small<std::size_t>(std::size_t{1} << 20, 1000);

PortConnection* peer_of(Port& p) { return static_cast<PortConnection*>(p.peer.get()); }

struct OutputTask final : PortTask {
  void run(Port& p) override {
    if (p.is_open()) peer_of(p)->output(p);
  }
  Term kind() const override { return intern_atom("dist_cmd"); }
};

struct TellTask final : PortTask {
  void run(Port&) override {}  // after any task the port may be freed (finish_closing)
};

struct EndTask final : PortTask {
  explicit EndTask(Term reason) : reason(reason) {}
  void run(Port& p) override { fail_port(p, reason); }
  Term reason;
};

}  // namespace

void PortConnection::attach(Port& p, std::shared_ptr<PortConnection> connection) {
  p.peer = std::move(connection);
  queue_task(p, new OutputTask);
}

void PortConnection::wake() { queue_task(controller, new OutputTask); }

void PortConnection::end(Term reason) { queue_task(controller, new EndTask(reason)); }

void PortConnection::input(Port& p, const std::uint8_t* bytes, std::size_t size, Binary* binary) {
  if (is_refused_ || !p.is_open() || receive(bytes, size, binary)) return;
  is_refused_ = true;
  end(atoms::killed);  // in a task: the driver's own input callback is still running
}

// ---- Output -------------------------------------------------------------------------------------

void PortConnection::send(Port& p, const Packet& packet) {
  p.output_bytes.store(p.output_bytes.load(std::memory_order_relaxed) + packet.bytes,
                       std::memory_order_relaxed);
  if (p.output_callback == Port::OutputCallback::kOutput) {
    std::vector<char> bytes;
    bytes.reserve(packet.bytes);
    for (const BinaryPart& part : packet.parts)
      bytes.insert(bytes.end(), part.data(), part.data() + part.size());
    return call_output_to(p, channel.name, bytes.data(), bytes.size());
  }
  constexpr std::size_t kUsualParts = 8;
  SysIOVec usual_vectors[kUsualParts];
  ErlDrvBinary* usual_binaries[kUsualParts];
  std::vector<SysIOVec> more_vectors;
  std::vector<ErlDrvBinary*> more_binaries;
  const std::size_t count = packet.parts.size() + 1;  // the driver fills in the first
  SysIOVec* vectors = usual_vectors;
  ErlDrvBinary** binaries = usual_binaries;
  if (count > kUsualParts) {
    more_vectors.resize(count);
    more_binaries.resize(count);
    vectors = more_vectors.data();
    binaries = more_binaries.data();
  }
  vectors[0] = {nullptr, 0};
  binaries[0] = nullptr;
  for (std::size_t i = 1; i < count; ++i) {
    const BinaryPart& part = packet.parts[i - 1];
    vectors[i] = {reinterpret_cast<char*>(const_cast<std::uint8_t*>(part.data())), part.size()};
    binaries[i] = driver_binary(part.binary());
  }
  ErlIOVec vector{static_cast<int>(count), packet.bytes, vectors, binaries};
  call_outputv_to(p, channel.name, &vector);
}

void PortConnection::send_some(Port& p) {
  Packet packet;
  for (std::size_t bytes = 0; bytes < kBytesATurn && !p.busy.load(std::memory_order_relaxed);) {
    if (!next_packet(&packet)) return;
    bytes += packet.bytes;
    p.more_follows = bytes < kBytesATurn && has_output();
    send(p, packet);
    if (!p.is_open()) return;
  }
  p.more_follows = false;
  report_left();
  // A busy port goes on when it is not busy any more.
  if (!p.busy.load(std::memory_order_relaxed)) queue_task(p, new OutputTask);
}

void PortConnection::output(Port& p) {
  send_some(p);
  if (put_off_ && !wants_no_input()) read_again(p);
}

void PortConnection::read_again(Port& p) { queue_task(p, put_off_.release()); }

void PortConnection::not_busy(Port& p) {
  if (probe::dist_port_not_busy_enabled()) [[unlikely]]
    probe::fire_dist_port_not_busy(local_node_name(), p.id, channel.name);
  queue_task(p, new OutputTask);
}

// ---- The end ------------------------------------------------------------------------------------

void PortConnection::closing(Port& p, Term reason) {
  down_ = channel.lose(number, reason);
  if (put_off_) read_again(p);
  if (down_ && down_->tell(kPiece)) down_.reset();
  if (down_) queue_task(p, new TellTask);
}

bool PortConnection::is_closing(Port& p, bool all) {
  if (!down_) return false;
  if (down_->tell(all ? INT_MAX : kPiece)) down_.reset();
  else queue_task(p, new TellTask);
  return down_ != nullptr;
}

}  // namespace vmrun::dist
