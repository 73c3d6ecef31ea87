// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/connection.hpp"

#include "vm/dist/incoming.hpp"
#include "vm/process/report.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/print.hpp"

namespace vmrun::dist {
namespace {

constexpr std::size_t kBytesReported = 32;

std::string first_bytes(const std::uint8_t* data, std::size_t size) {
  std::string text = "<<";
  for (std::size_t i = 0; i < size && i < kBytesReported; ++i)
    text += (i ? "," : "") + std::to_string(data[i]);
  return text + (size > kBytesReported ? ",...>>" : ">>");
}

void report_bad(const Channel& channel, const char* wrong, const std::string& shown) {
  report_error("** The connection to node " + term_text(channel.name) + " is closed: bad data (" + wrong +
               ")" + shown + " **\n");
}

}  // namespace

Connection::Connection(Channel& channel, Term controller, Flags flags)
    : channel(channel), controller(controller), flags(flags), input_(flags), output_(flags) {
  channel.retain();
}

bool Connection::receive(const std::uint8_t* data, std::size_t size, Binary* binary) {
  if (bad_) return false;  // the connection is already ending
  packets_in.fetch_add(1, std::memory_order_relaxed);
  const Channel::Answering answering(channel);
  const char* wrong = nullptr;
  switch (input_.take(data, size, binary)) {
    case Taken::kTick:
    case Taken::kMore: return true;
    case Taken::kMessage:
      if (act_on(route(), input_.control(), input_.payload())) return true;
      wrong = "control message";
      break;
    case Taken::kBad: wrong = input_.reason(); break;
  }
  bad_ = true;
  report_bad(channel, wrong, ": " + first_bytes(data, size));
  return false;
}

void Connection::refuse(const char* wrong) {
  if (refused_.exchange(true, std::memory_order_relaxed)) return;
  report_bad(channel, wrong, "");
  end(atoms::killed);
}

bool Connection::next_packet(Packet* packet) {
  if (output_.is_amid_large()) channel.take(*this, output_);  // new messages take turns with a large one
  while (!output_.next_packet(packet)) {
    report_left();
    if (!channel.take(*this, output_)) return false;
  }
  packets_out.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace vmrun::dist
