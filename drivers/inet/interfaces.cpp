// SPDX-License-Identifier: Apache-2.0
#include "drivers/inet/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netdb.h>
#include <netpacket/packet.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <vector>

#include "drivers/inet/address.hpp"

namespace vmrun::inet {
namespace {

std::string_view view(const void* bytes, std::size_t size) { return {static_cast<const char*>(bytes), size}; }

std::string text(Reader& in) { return std::string(in.bytes(in.u8())); }

// ---- Flags --------------------------------------------------------------------------------------

struct Flag {
  std::uint32_t number;
  unsigned system;
  std::uint32_t off_number = 0;  // the number that clears the flag
};
constexpr Flag kFlags[] = {{0x01, IFF_UP, 0x100}, {0x02, IFF_BROADCAST, 0x200},
                           {0x04, IFF_LOOPBACK},  {0x08, IFF_POINTOPOINT, 0x800},
                           {0x10, IFF_RUNNING},   {0x20, IFF_MULTICAST}};

std::uint32_t flags_number(unsigned system) {
  std::uint32_t number = 0;
  for (const Flag& f : kFlags)
    if (system & f.system) number |= f.number;
  return number;
}

unsigned change_flags(unsigned system, std::uint32_t number) {
  for (const Flag& f : kFlags) {
    if (!f.off_number) continue;
    if (number & f.number) system |= f.system;
    if (number & f.off_number) system &= ~f.system;
  }
  return system;
}

// ---- One interface ------------------------------------------------------------------------------

constexpr std::size_t kHardwareBytes = 6;

/// The calls that get and set an address.
struct AddressCall {
  InterfaceOption option;
  unsigned long get, set;
};
constexpr AddressCall kAddressCalls[] = {{kInterfaceAddress, SIOCGIFADDR, SIOCSIFADDR},
                                         {kInterfaceBroadcast, SIOCGIFBRDADDR, SIOCSIFBRDADDR},
                                         {kInterfacePeer, SIOCGIFDSTADDR, SIOCSIFDSTADDR},
                                         {kInterfaceNetmask, SIOCGIFNETMASK, SIOCSIFNETMASK}};

const AddressCall* address_call(std::uint8_t option) {
  for (const AddressCall& c : kAddressCalls)
    if (c.option == option) return &c;
  return nullptr;
}

/// Reads the name of an interface into `request`. Returns false when there is none. A name that is
/// too long is cut off, as in OTP.
bool name_request(Reader& in, ifreq* request) {
  const std::string name = text(in);
  if (!in.good()) return false;
  *request = {};
  std::memcpy(request->ifr_name, name.data(), std::min<std::size_t>(name.size(), IFNAMSIZ - 1));
  return true;
}

/// Appends number and value of one option, if the interface has it. Returns false for an unknown
/// option.
bool append_option(int fd, ifreq request, std::uint8_t option, Answer& out) {
  if (const AddressCall* call = address_call(option)) {
    if (ioctl(fd, call->get, &request) != 0 || request.ifr_addr.sa_family != AF_INET) return true;
    out.u8(option).u8(kInet);
    return write_ip(out, request.ifr_addr);
  }
  switch (option) {
    case kInterfaceMtu:
      if (ioctl(fd, SIOCGIFMTU, &request) == 0)
        out.u8(option).u32(static_cast<std::uint32_t>(request.ifr_mtu));
      return true;
    case kInterfaceFlags: {
      const bool there = ioctl(fd, SIOCGIFFLAGS, &request) == 0;
      const auto system = static_cast<unsigned short>(request.ifr_flags);
      out.u8(option).u32(there ? flags_number(system) : 0);
      return true;
    }
    case kInterfaceHardware:
      if (ioctl(fd, SIOCGIFHWADDR, &request) == 0)
        out.u8(option).u16(kHardwareBytes).bytes(view(request.ifr_hwaddr.sa_data, kHardwareBytes));
      return true;
  }
  return false;
}

/// Errors of the system are not reported, as in OTP: get_interface shows the result.
bool set_interface_option(int fd, ifreq request, Reader& in) {
  const std::uint8_t option = in.u8();
  if (const AddressCall* call = address_call(option)) {
    if (in.u8() != kInet) return false;
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(in.u32());
    std::memcpy(&request.ifr_addr, &to, sizeof to);
    if (in.good()) static_cast<void>(ioctl(fd, call->set, &request));
    return in.good();
  }
  switch (option) {
    case kInterfaceMtu:
      request.ifr_mtu = in.i32();
      if (in.good()) static_cast<void>(ioctl(fd, SIOCSIFMTU, &request));
      return in.good();
    case kInterfaceFlags: {
      const std::uint32_t number = in.u32();
      if (!in.good() || ioctl(fd, SIOCGIFFLAGS, &request) != 0) return in.good();
      request.ifr_flags =
          static_cast<short>(change_flags(static_cast<unsigned short>(request.ifr_flags), number));
      static_cast<void>(ioctl(fd, SIOCSIFFLAGS, &request));
      return true;
    }
    case kInterfaceHardware: {
      const std::string_view address = in.bytes(in.u16());
      if (!in.good() || address.size() > sizeof request.ifr_hwaddr.sa_data) return false;
      request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
      std::memcpy(request.ifr_hwaddr.sa_data, address.data(), address.size());
      static_cast<void>(ioctl(fd, SIOCSIFHWADDR, &request));
      return true;
    }
  }
  return false;
}

// ---- All of them --------------------------------------------------------------------------------

void append_address(Answer& out, InterfaceOption option, const sockaddr* address) {
  if (!address || (address->sa_family != AF_INET && address->sa_family != AF_INET6)) return;
  out.u8(option).u8(family_of(address->sa_family));
  static_cast<void>(write_ip(out, *address));
}

void append_hardware(Answer& out, const sockaddr* address) {
  if (!address || address->sa_family != AF_PACKET) return;
  const auto& link = reinterpret_cast<const sockaddr_ll&>(*address);
  if (link.sll_halen == 0) return;
  out.u8(kInterfaceHardware).u16(link.sll_halen).bytes(view(link.sll_addr, link.sll_halen));
}

}  // namespace

Answer host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, sizeof name - 1) != 0) return Answer::failed(errno);
  return std::move(Answer().bytes(name));
}

Answer service_by_name(Reader& in) {
  const std::string name = text(in), protocol = text(in);
  if (!in.done()) return Answer::failed(EINVAL);
  servent result, *found = nullptr;
  char room[1024];
  getservbyname_r(name.c_str(), protocol.c_str(), &result, room, sizeof room, &found);
  return found ? Answer().u16(ntohs(static_cast<std::uint16_t>(found->s_port))) : Answer::failed(EINVAL);
}

Answer service_by_port(Reader& in) {
  const std::uint16_t port = in.u16();
  const std::string protocol = text(in);
  if (!in.done()) return Answer::failed(EINVAL);
  servent result, *found = nullptr;
  char room[1024];
  getservbyport_r(htons(port), protocol.c_str(), &result, room, sizeof room, &found);
  return found ? Answer().bytes(found->s_name) : Answer::failed(EINVAL);
}

Answer interfaces(int fd) {
  constexpr std::size_t kMost = 1024;
  std::vector<ifreq> all(kMost);
  ifconf list{};
  list.ifc_len = static_cast<int>(all.size() * sizeof(ifreq));
  list.ifc_req = all.data();
  if (ioctl(fd, SIOCGIFCONF, &list) != 0) return Answer::failed(errno);
  all.resize(static_cast<std::size_t>(list.ifc_len) / sizeof(ifreq));
  Answer out;
  for (const ifreq& one : all) out.bytes({one.ifr_name, strnlen(one.ifr_name, IFNAMSIZ)}).u8(0);
  return out;
}

Answer get_interface(int fd, Reader& in) {
  ifreq request;
  if (!name_request(in, &request)) return Answer::failed(EINVAL);
  Answer out;
  while (in.left())
    if (!append_option(fd, request, in.u8(), out)) return Answer::failed(EINVAL);
  return out;
}

Answer set_interface(int fd, Reader& in) {
  ifreq request;
  if (!name_request(in, &request)) return Answer::failed(EINVAL);
  while (in.left())
    if (!set_interface_option(fd, request, in)) return Answer::failed(EINVAL);
  return {};
}

Answer interface_addresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return Answer::failed(errno);
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, freeifaddrs);
  Answer out;
  for (const ifaddrs* one = first; one; one = one->ifa_next) {
    out.bytes(one->ifa_name).u8(0);
    out.u8(kInterfaceFlags).u32(flags_number(one->ifa_flags));
    append_address(out, kInterfaceAddress, one->ifa_addr);
    append_address(out, kInterfaceNetmask, one->ifa_netmask);
    const bool to_peer = one->ifa_flags & IFF_POINTOPOINT;
    if (to_peer) append_address(out, kInterfacePeer, one->ifa_dstaddr);
    else if (one->ifa_flags & IFF_BROADCAST) append_address(out, kInterfaceBroadcast, one->ifa_broadaddr);
    append_hardware(out, one->ifa_addr);
    out.u8(0);
  }
  return out;
}

}  // namespace vmrun::inet
