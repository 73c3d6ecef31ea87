// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "drivers/inet/protocol.hpp"

namespace vmrun::inet {

/// Options of a socket that belong to the driver, not to the system. An accepted socket begins with
/// those of the listening one, but passive.
struct Settings {
  std::uint32_t buffer_bytes = 1460;
  bool buffer_given = false;       // else the buffer grows with recbuf
  std::uint32_t header_bytes = 0;  // bytes delivered as list elements in front of a binary
  Active active = Active::kPassive;
  std::int16_t active_count = 0;  // messages left, Active::kCounted
  bool binary = false;            // mode
  bool to_port = false;           // deliver: {Port, {data, D}} instead of {tcp, Port, D}
  bool exit_on_close = true;
  bool debug = false;
  std::uint32_t packet_type = 0;
  std::uint32_t packet_size = 0;  // the largest packet in bytes; 0: no limit
  std::uint8_t line_delimiter = '\n';
  // tcp_inet
  std::uint32_t high_watermark = 8192, low_watermark = 4096;
  std::uint32_t send_timeout_ms = ~std::uint32_t{0};
  bool send_timeout_close = false;
  bool delay_send = false;
  bool show_reset = false;
  bool reads_ahead = true;  // else no byte behind a packet is read before the packet is delivered
  bool may_linger = false;  // the option has been set; the system knows its value
  // udp_inet
  std::uint32_t read_packets = 5;
};

}  // namespace vmrun::inet
