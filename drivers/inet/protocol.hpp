// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The numbers in the protocol between prim_inet and the drivers tcp_inet and udp_inet. They are
/// those of Erlang/OTP 25 (kernel's src/inet_int.hrl), so that OTP's prim_inet works on these
/// drivers, and this one on OTP's. Requests and answers are described in docs/internals/sockets.md.
namespace vmrun::inet {

/// Added to the number of every request, so that port_control on another driver's port fails.
inline constexpr unsigned kRequestBase = 0x03f1a300;

enum Request : unsigned {
  kOpen = 1,
  kConnect = 3,
  kPeerName = 4,
  kSockName = 5,
  kBind = 6,
  kSetOptions = 7,
  kGetOptions = 8,
  kGetStatistics = 11,
  kGetHostName = 12,
  kOpenDescriptor = 13,
  kGetDescriptor = 14,
  kGetType = 15,
  kGetStatus = 16,
  kServiceByName = 17,
  kServiceByPort = 18,
  kSetSockName = 19,
  kSetPeerName = 20,
  kInterfaces = 21,
  kGetInterface = 22,
  kSetInterface = 23,
  kSubscribe = 24,
  kInterfaceAddresses = 25,
  kAccept = 26,
  kListen = 27,
  kIgnoreDescriptor = 28,
  kSockNames = 29,
  kPeerNames = 30,
  // tcp_inet
  kReceive = 42,
  kUnreceive = 43,
  kShutdown = 44,
  kSendFile = 45,
  // udp_inet
  kReceivePacket = 60,
};

/// First byte of an answer.
enum AnswerCode : std::uint8_t { kError = 0, kOk = 1 };

enum Family : std::uint8_t {
  kUnspecified = 0,
  kInet = 1,
  kInet6 = 2,
  kAny = 3,       // in addresses: of the socket's own family
  kLoopback = 4,  // likewise
  kLocal = 5,
  kUndefined = 6,  // of a family without a number here
};

/// Since OTP 29 an open request says which of several protocols a stream has.
enum Protocol : std::uint8_t { kDefaultProtocol = 0, kMultipathTcp = 4 };

enum SocketType : std::uint8_t { kStream = 1, kDatagram = 2 };

enum class Active : std::uint8_t { kPassive = 0, kAlways = 1, kOnce = 2, kCounted = 3 };

/// Bits of the answer to kGetStatus.
enum Status : std::uint32_t {
  kStatusOpen = 0x01,
  kStatusBound = 0x02,
  kStatusConnected = 0x04,
  kStatusListen = 0x08,
  kStatusConnecting = 0x10,
  kStatusAccepting = 0x20,
  kStatusBusy = 0x80,
};

enum Option : std::uint8_t {
  kReuseAddress = 0,
  kKeepAlive = 1,
  kDontRoute = 2,
  kLinger = 3,
  kBroadcast = 4,
  kOutOfBandInline = 5,
  kSendBuffer = 6,
  kReceiveBuffer = 7,
  kPriority = 8,
  kTypeOfService = 9,
  kNoDelay = 10,
  kMulticastInterface = 11,
  kMulticastTtl = 12,
  kMulticastLoop = 13,
  kAddMembership = 14,
  kDropMembership = 15,
  kReusePort = 17,
  kReusePortBalanced = 18,
  kExclusiveAddressUse = 19,  // of Windows: elsewhere it is taken, and stays false
  kIpv6Only = 16,
  kBuffer = 20,
  kHeader = 21,
  kActive = 22,
  kPacket = 23,
  kMode = 24,
  kDeliver = 25,
  kExitOnClose = 26,
  kHighWatermark = 27,
  kLowWatermark = 28,
  kSendTimeout = 30,
  kDelaySend = 31,
  kPacketSize = 32,
  kReadPackets = 33,
  kRaw = 34,
  kSendTimeoutClose = 35,
  kHighMessageQueueWatermark = 36,
  kLowMessageQueueWatermark = 37,
  kNetworkNamespace = 38,
  kShowReset = 39,
  kLineDelimiter = 40,
  kTrafficClass = 41,
  kBindToDevice = 42,
  kReceiveTypeOfService = 43,
  kReceiveTrafficClass = 44,
  kPacketOptions = 45,
  kTtl = 46,
  kReceiveTtl = 47,
  kNoPush = 48,
  kReadAhead = 49,
  kKeepCount = 51,
  kKeepIdle = 52,
  kKeepInterval = 53,
  kUserTimeout = 54,
  kDebug = 99,
};

enum Statistic : std::uint8_t {
  kReceivedCount = 1,
  kReceivedMax = 2,
  kReceivedAverage = 3,
  kReceivedDeviation = 4,
  kSentCount = 5,
  kSentMax = 6,
  kSentAverage = 7,
  kSentPending = 8,
  kReceivedBytes = 9,
  kSentBytes = 10,
};

enum Subscription : std::uint8_t { kEmptyOutputQueue = 1 };

enum InterfaceOption : std::uint8_t {
  kInterfaceAddress = 1,
  kInterfaceBroadcast = 2,
  kInterfacePeer = 3,
  kInterfaceMtu = 4,
  kInterfaceNetmask = 5,
  kInterfaceFlags = 6,
  kInterfaceHardware = 7,
};

}  // namespace vmrun::inet
