// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <vector>

#include "drivers/socket/socket_terms.hpp"

/// Kinds of option values. Each converts a term to what setsockopt(2) takes, and the result of
/// getsockopt(2) to a term.
namespace vmrun::sockets {

struct OptionKind {
  /// Returns false for a value of another kind. nullptr: the option cannot be set.
  bool (*read)(ErlNifEnv* env, ERL_NIF_TERM term, std::vector<char>* to);
  /// nullptr: the option cannot be read.
  ERL_NIF_TERM (*show)(ErlNifEnv* env, const char* bytes, std::size_t size);
  socklen_t size;  // room for getsockopt
};

namespace kinds {
extern const OptionKind kInteger, kUnsigned, kBoolean, kIntegerToGet, kDomainToGet, kTypeToGet, kDomainToSet,
    kString, kLinger, kTos, kMtuDiscovery, kHops, kInterface, kMembership, kSourceMembership, kSourceFilter,
    kMembership6, kControlMessages, kSctpAssociation, kSctpEvents, kSctpInit, kSctpTimeouts;
}

}  // namespace vmrun::sockets
