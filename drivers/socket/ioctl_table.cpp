// SPDX-License-Identifier: Apache-2.0
#include "drivers/socket/ioctl_table.hpp"

#include <net/if.h>
#include <sys/ioctl.h>

namespace vmrun::sockets {
namespace {

constexpr Named kRequests[] = {
    {"gifconf", SIOCGIFCONF},
    {"gifname", SIOCGIFNAME},
    {"gifindex", SIOCGIFINDEX},
    {"gifflags", SIOCGIFFLAGS},
    {"gifaddr", SIOCGIFADDR},
    {"gifdstaddr", SIOCGIFDSTADDR},
    {"gifbrdaddr", SIOCGIFBRDADDR},
    {"gifnetmask", SIOCGIFNETMASK},
    {"gifmtu", SIOCGIFMTU},
    {"gifhwaddr", SIOCGIFHWADDR},
    {"giftxqlen", SIOCGIFTXQLEN},
    {"gifmap", SIOCGIFMAP},
    {"sifflags", SIOCSIFFLAGS},
    {"sifaddr", SIOCSIFADDR},
    {"sifdstaddr", SIOCSIFDSTADDR},
    {"sifbrdaddr", SIOCSIFBRDADDR},
    {"sifmtu", SIOCSIFMTU},
    {"siftxqlen", SIOCSIFTXQLEN},
    {"nread", FIONREAD},
    {"atmark", SIOCATMARK},
};

constexpr Named kInterfaceFlags[] = {
    {"up", IFF_UP},
    {"broadcast", IFF_BROADCAST},
    {"debug", IFF_DEBUG},
    {"loopback", IFF_LOOPBACK},
    {"pointopoint", IFF_POINTOPOINT},
    {"notrailers", IFF_NOTRAILERS},
    {"running", IFF_RUNNING},
    {"noarp", IFF_NOARP},
    {"promisc", IFF_PROMISC},
    {"allmulti", IFF_ALLMULTI},
    {"master", IFF_MASTER},
    {"slave", IFF_SLAVE},
    {"multicast", IFF_MULTICAST},
    {"portsel", IFF_PORTSEL},
    {"automedia", IFF_AUTOMEDIA},
    {"dynamic", IFF_DYNAMIC},
    // net/if.h does not define these three, and linux/if.h cannot be included beside it.
    {"lower_up", 1 << 16},
    {"dormant", 1 << 17},
    {"echo", 1 << 18},
    {"knowsepoch", 0},
    {"dhcprunning", 0},
    {"private", 0},
    {"oactive", 0},
    {"simplex", 0},
    {"link0", 0},
    {"link1", 0},
    {"link2", 0},
    {"cantconfig", 0},
    {"ppromisc", 0},
    {"monitor", 0},
    {"staticarp", 0},
    {"dying", 0},
    {"renaming", 0},
    {"nogroup", 0},
};

}  // namespace

std::span<const Named> ioctl_requests() { return kRequests; }
std::span<const Named> interface_flags() { return kInterfaceFlags; }

}  // namespace vmrun::sockets
