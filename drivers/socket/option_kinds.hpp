#pragma once

#include <sys/socket.h>

#include <vector>

#include "drivers/socket/terms.hpp"

/// Kinds of values that options have, each with its way from a term to what setsockopt(2) takes and
/// from what getsockopt(2) gives to a term.
namespace vmrun::sockets {

struct OptionKind {
  /// False: a value of another kind. nullptr: the option cannot be set.
  bool (*read)(ErlNifEnv* env, ERL_NIF_TERM term, std::vector<char>* to);
  /// nullptr: the option cannot be got.
  ERL_NIF_TERM (*show)(ErlNifEnv* env, const char* bytes, std::size_t size);
  socklen_t size;  // room for getsockopt
};

namespace kinds {
extern const OptionKind kInteger, kBoolean, kIntegerToGet, kDomainToGet, kTypeToGet, kDomainToSet, kString,
    kLinger, kTos, kMtuDiscovery, kHops, kInterface, kMembership, kSourceMembership, kSourceFilter,
    kMembership6, kControlMessages, kSctpAssociation, kSctpEvents, kSctpInit, kSctpTimeouts;
}

}  // namespace vmrun::sockets
