// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/bif/support.hpp"
#include "vm/base/network_namespace.hpp"
#include "vm/base/release.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/map.hpp"

/// prim_net: what the system knows of hosts, services and network interfaces. Names are binaries.
/// Socket addresses are tuples of family, numbers and bytes, which prim_net.erl converts to maps. A
/// call that may ask another machine runs on a dirty scheduler for as long as that takes.
namespace vmrun {
namespace {

Term bytes_term(Heap& heap, const void* bytes, Word size) { return make_binary(heap, bytes, size); }
Term number_term(std::uint32_t n) { return Term::small(n); }

/// {inet, Port, Ip} | {inet6, Port, Ip, Flow, Scope} | {local, Path} |
/// {packet, Protocol, Interface, HardwareType, PacketType, Bytes} | {Number}
Term address_term(Heap& heap, const sockaddr* address) {
  switch (address->sa_family) {
    case AF_INET: {
      const auto* in = reinterpret_cast<const sockaddr_in*>(address);
      return new_tuple(heap, intern_atom("inet"), number_term(ntohs(in->sin_port)),
                       bytes_term(heap, &in->sin_addr, 4));
    }
    case AF_INET6: {
      const auto* in = reinterpret_cast<const sockaddr_in6*>(address);
      return new_tuple(heap, intern_atom("inet6"), number_term(ntohs(in->sin6_port)),
                       bytes_term(heap, &in->sin6_addr, 16), number_term(ntohl(in->sin6_flowinfo)),
                       number_term(in->sin6_scope_id));
    }
    case AF_PACKET: {
      const auto* link = reinterpret_cast<const sockaddr_ll*>(address);
      return new_tuple(heap, intern_atom("packet"), number_term(ntohs(link->sll_protocol)),
                       number_term(static_cast<std::uint32_t>(link->sll_ifindex)),
                       number_term(link->sll_hatype), number_term(link->sll_pkttype),
                       bytes_term(heap, link->sll_addr, std::min<Word>(link->sll_halen, 8)));
    }
    default: return new_tuple(heap, number_term(address->sa_family));
  }
}

/// Reads a binary without zero bytes as text for the system; returns false for anything else.
bool read_bytes(Term t, std::string* out) {
  if (!is_binary(t)) return false;
  const BytesOf bytes(t);
  out->assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return out->find('\0') == std::string::npos;
}

bool read_number(Term t, SWord most, std::uint32_t* out) {
  SWord n;
  if (!small_in_range(t, 0, most, &n)) return false;
  *out = static_cast<std::uint32_t>(n);
  return true;
}

/// Reads an address of family inet, inet6 or local in the form that address_term makes.
bool read_address(Term t, sockaddr_storage* out, socklen_t* size) {
  std::memset(out, 0, sizeof *out);
  if (!t.is_tuple() || t.tuple_arity() < 2) return false;
  const Term family = t.element(0);
  std::uint32_t port, flow, scope;
  if (family == intern_atom("local")) {
    auto* local = reinterpret_cast<sockaddr_un*>(out);
    std::string path;
    if (!read_bytes(t.element(1), &path) || path.size() >= sizeof local->sun_path) return false;
    local->sun_family = AF_UNIX;
    std::memcpy(local->sun_path, path.data(), path.size());
    *size = sizeof *local;
    return true;
  }
  if (t.tuple_arity() < 3 || !read_number(t.element(1), 65535, &port) || !is_binary(t.element(2)))
    return false;
  const BytesOf ip(t.element(2));
  if (family == intern_atom("inet") && ip.size() == 4) {
    auto* in = reinterpret_cast<sockaddr_in*>(out);
    in->sin_family = AF_INET;
    in->sin_port = htons(static_cast<std::uint16_t>(port));
    std::memcpy(&in->sin_addr, ip.data(), 4);
    *size = sizeof *in;
    return true;
  }
  if (family != intern_atom("inet6") || ip.size() != 16 || t.tuple_arity() != 5 ||
      !read_number(t.element(3), UINT32_MAX, &flow) || !read_number(t.element(4), UINT32_MAX, &scope))
    return false;
  auto* in = reinterpret_cast<sockaddr_in6*>(out);
  in->sin6_family = AF_INET6;
  in->sin6_port = htons(static_cast<std::uint16_t>(port));
  in->sin6_flowinfo = htonl(flow);
  in->sin6_scope_id = scope;
  std::memcpy(&in->sin6_addr, ip.data(), 16);
  *size = sizeof *in;
  return true;
}

Term error_tuple(Process& p, const char* reason) {
  return new_tuple(p.heap, atoms::error, intern_atom(reason));
}
Term errno_tuple(Process& p, int error) { return error_tuple(p, errno_name(error)); }

/// The reasons of getaddrinfo(3) and getnameinfo(3).
Term resolver_error(Process& p, int reason, int error) {
  static constexpr std::pair<int, const char*> kNames[] = {
      {EAI_ADDRFAMILY, "eaddrfamily"}, {EAI_AGAIN, "eagain"},
      {EAI_BADFLAGS, "ebadflags"},     {EAI_FAIL, "efail"},
      {EAI_FAMILY, "efamily"},         {EAI_MEMORY, "emem"},
      {EAI_NODATA, "enodata"},         {EAI_NONAME, "enoname"},
      {EAI_SERVICE, "eservice"},       {EAI_SOCKTYPE, "esocktype"},
      {EAI_OVERFLOW, "eoverflow"}};
  for (const auto& [number, name] : kNames)
    if (number == reason) return error_tuple(p, name);
  return reason == EAI_SYSTEM ? errno_tuple(p, error) : error_tuple(p, "efail");
}

/// Descriptors for the system's resolver, held from the first request on. So a program that has
/// none left still resolves names, as with OTP, whose resolver is a process of its own. Any thread.
class DescriptorReserve {
 public:
  /// ask() returns 0 or an error number; it is called again when it had no descriptor.
  template <class Ask>
  int with(Ask ask) {
    const int reason = ask();
    if (reason == 0 || !lacks_descriptors()) return fill(), reason;
    std::lock_guard guard(lock_);
    release();
    const int second = ask();
    take();
    return second;
  }

 private:
  static int open_one() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
  static bool lacks_descriptors() {
    const int before = errno, fd = open_one();
    const bool none = fd < 0 && (errno == EMFILE || errno == ENFILE);
    if (fd >= 0) ::close(fd);
    errno = before;
    return none;
  }
  void fill() {
    if (std::unique_lock guard(lock_, std::try_to_lock); guard) take();
  }
  void take() {
    const int before = errno;
    for (int& fd : held_)
      if (fd < 0) fd = open_one();
    errno = before;
  }
  void release() {
    for (int& fd : held_)
      if (fd >= 0) ::close(std::exchange(fd, -1));
  }

  std::mutex lock_;
  int held_[2] = {-1, -1};  // guarded by lock_; the resolver opens one after the other
};
// Never destroyed: dirty schedulers outlive main.
DescriptorReserve& resolver_reserve = *new DescriptorReserve;

/// {ok, [{KeyOfType, Type, Protocol, Address}], CanonicalName}
Term found_addresses(Process& p, const addrinfo* found) {
  const Term key = intern_atom(release_has(Trait::kSocketTypeKey) ? "socktype" : "type");
  ListBuilder list(p.heap);
  for (const addrinfo* a = found; a; a = a->ai_next)
    if (a->ai_addr)
      list.add(new_tuple(p.heap, key, number_term(static_cast<std::uint32_t>(a->ai_socktype)),
                         number_term(static_cast<std::uint32_t>(a->ai_protocol)),
                         address_term(p.heap, a->ai_addr)));
  const std::string_view name = found->ai_canonname ? found->ai_canonname : "";
  return new_tuple(p.heap, atoms::ok, list.finish(), text_binary(p.heap, name));
}

Term ask_for_addresses(Process& p, const Term* a) {
  std::string host, service;
  const bool has_host = read_bytes(a[0], &host), has_service = read_bytes(a[1], &service);
  if ((!has_host && a[0] != atoms::undefined) || (!has_service && a[1] != atoms::undefined))
    return raise_badarg(p);
  addrinfo hints{};
  if (a[2] != atoms::undefined) {
    hints.ai_family = a[2] == intern_atom("inet6") ? AF_INET6 : AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_CANONNAME;
  }
  addrinfo* found = nullptr;
  const int reason = resolver_reserve.with([&] {
    return getaddrinfo(has_host ? host.c_str() : nullptr, has_service ? service.c_str() : nullptr, &hints,
                       &found);
  });
  if (reason != 0) return resolver_error(p, reason, errno);
  const Term answer = found_addresses(p, found);
  freeaddrinfo(found);
  return answer;
}

bool read_name_flags(Term list, int* flags) {
  static constexpr std::pair<std::string_view, int> kFlags[] = {
      {"namereqd", NI_NAMEREQD},       {"dgram", NI_DGRAM},
      {"nofqdn", NI_NOFQDN},           {"numerichost", NI_NUMERICHOST},
      {"numericserv", NI_NUMERICSERV}, {"idn", NI_IDN}};
  *flags = 0;
  for (; list.is_list(); list = list.tail()) {
    const auto* found = std::ranges::find_if(
        kFlags, [&](const auto& f) { return list.head().is_atom() && atom_text(list.head()) == f.first; });
    if (found == std::end(kFlags)) return false;
    *flags |= found->second;
  }
  return list.is_nil();
}

Term ask_for_names(Process& p, const Term* a) {
  sockaddr_storage address;
  socklen_t size;
  int flags;
  if (!read_address(a[0], &address, &size) || !read_name_flags(a[1], &flags)) return raise_badarg(p);
  char host[NI_MAXHOST], service[NI_MAXSERV];
  const int reason = resolver_reserve.with([&] {
    return getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof host, service,
                       sizeof service, flags);
  });
  if (reason != 0) return resolver_error(p, reason, errno);
  return new_tuple(p.heap, atoms::ok, text_binary(p.heap, host), text_binary(p.heap, service));
}

/// Asks the system's list of services: services(5). ask(entry, room, bytes, found)
template <class Ask>
Term ask_service(Process& p, Ask ask, Term (*answer)(Process& p, const servent& found)) {
  servent entry, *found = nullptr;
  std::string room(1024, '\0');
  int error;
  while ((error = ask(&entry, room.data(), room.size(), &found)) == ERANGE) room.resize(2 * room.size());
  return error == 0 && found ? answer(p, *found) : error_tuple(p, "einval");
}

/// Reads the name of a protocol. "any" stands for all of them.
bool read_protocol(Term t, std::string* name, const char** protocol) {
  if (!read_bytes(t, name)) return false;
  *protocol = *name == "any" ? nullptr : name->c_str();
  return true;
}

Term ask_for_port(Process& p, const Term* a) {
  std::string name, text;
  const char* protocol;
  if (!read_bytes(a[0], &name) || !read_protocol(a[1], &text, &protocol)) return raise_badarg(p);
  return ask_service(
      p,
      [&](servent* entry, char* room, std::size_t bytes, servent** found) {
        return getservbyname_r(name.c_str(), protocol, entry, room, bytes, found);
      },
      [](Process& p, const servent& found) {
        const auto port = static_cast<std::uint16_t>(found.s_port);
        return new_tuple(p.heap, atoms::ok, number_term(ntohs(port)));
      });
}

Term ask_for_service(Process& p, const Term* a) {
  std::uint32_t port;
  std::string text;
  const char* protocol;
  if (!read_protocol(a[1], &text, &protocol)) return raise_badarg(p);
  if (!read_number(a[0], UINT16_MAX, &port)) return error_tuple(p, "einval");
  return ask_service(
      p,
      [&](servent* entry, char* room, std::size_t bytes, servent** found) {
        return getservbyport_r(htons(static_cast<std::uint16_t>(port)), protocol, entry, room, bytes, found);
      },
      [](Process& p, const servent& found) {
        return new_tuple(p.heap, atoms::ok, text_binary(p.heap, found.s_name));
      });
}

Term address_or_undefined(Heap& heap, const sockaddr* address) {
  return address ? address_term(heap, address) : atoms::undefined;
}

}  // namespace

/// ask_addresses(Host | undefined, Service | undefined, Family | undefined): all addresses. With a
/// family only one address of each kind, and the host's canonical name.
Term bif_prim_net_ask_addresses_3(Process& p, const Term* a) {
  return run_on_dirty(p, ask_for_addresses, a, 3, DirtyKind::kIo);
}

/// ask_names(Address, Flags): {ok, Host, Service}.
Term bif_prim_net_ask_names_2(Process& p, const Term* a) {
  return run_on_dirty(p, ask_for_names, a, 2, DirtyKind::kIo);
}

/// ask_interfaces(Namespace): {ok, [{Name, Flags, Address, Netmask, Broadcast or destination}]}, as
/// the system lists them in a network namespace; <<>> is the machine's own.
Term bif_prim_net_ask_interfaces_1(Process& p, const Term* a) {
  std::string path;
  if (!read_bytes(a[0], &path)) return raise_badarg(p);
  NetworkNamespace there(path);
  if (there.error()) return errno_tuple(p, there.error());
  ifaddrs* found = nullptr;
  const int error = getifaddrs(&found) == 0 ? 0 : errno;
  const bool is_home = there.leave();
  if (error || !is_home) {
    freeifaddrs(found);
    return errno_tuple(p, error ? error : EIO);
  }
  ListBuilder list(p.heap);
  for (const ifaddrs* i = found; i; i = i->ifa_next)
    list.add(new_tuple(p.heap, text_binary(p.heap, i->ifa_name), number_term(i->ifa_flags),
                       address_or_undefined(p.heap, i->ifa_addr),
                       address_or_undefined(p.heap, i->ifa_netmask),
                       address_or_undefined(p.heap, i->ifa_broadaddr)));
  freeifaddrs(found);
  return new_tuple(p.heap, atoms::ok, list.finish());
}

/// ask_service_port(Name, Protocol): {ok, Port}.
Term bif_prim_net_ask_service_port_2(Process& p, const Term* a) {
  return run_on_dirty(p, ask_for_port, a, 2, DirtyKind::kIo);
}

/// ask_service_name(Port, Protocol): {ok, Name}.
Term bif_prim_net_ask_service_name_2(Process& p, const Term* a) {
  return run_on_dirty(p, ask_for_service, a, 2, DirtyKind::kIo);
}

Term bif_prim_net_ask_hostname_0(Process& p, const Term*) {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return errno_tuple(p, errno);
  return new_tuple(p.heap, atoms::ok, text_binary(p.heap, name));
}

/// ask_info(): what was chosen when OTP's functions were built, as its packages have it. Namespaces
/// can be named all the same.
Term bif_prim_net_ask_info_0(Process& p, const Term*) {
  Term pairs[] = {text_atom("debug"), atoms::false_, text_atom("netns"), atoms::false_};
  return map_from_pairs(p.heap, pairs, release_has(Trait::kNetnsInNetInfo) ? 2 : 1);
}

Term bif_prim_net_ask_interface_index_1(Process& p, const Term* a) {
  std::string name;
  if (!read_bytes(a[0], &name)) return raise_badarg(p);
  const unsigned index = if_nametoindex(name.c_str());
  return index ? new_tuple(p.heap, atoms::ok, number_term(index)) : errno_tuple(p, errno);
}

Term bif_prim_net_ask_interface_name_1(Process& p, const Term* a) {
  std::uint32_t index;
  char name[IF_NAMESIZE];
  if (!read_number(a[0], UINT32_MAX, &index)) return raise_badarg(p);
  return if_indextoname(index, name) ? new_tuple(p.heap, atoms::ok, text_binary(p.heap, name))
                                     : errno_tuple(p, errno);
}

Term bif_prim_net_ask_interface_names_0(Process& p, const Term*) {
  struct if_nameindex* const found = if_nameindex();
  if (!found) return errno_tuple(p, errno);
  ListBuilder list(p.heap);
  for (const struct if_nameindex* i = found; i->if_index != 0; ++i)
    list.add(new_tuple(p.heap, number_term(i->if_index), text_binary(p.heap, i->if_name)));
  if_freenameindex(found);
  return new_tuple(p.heap, atoms::ok, list.finish());
}

}  // namespace vmrun
