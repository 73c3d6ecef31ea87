// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "drivers/efile/file_operation.hpp"

/// Replies to the owner of the port: {Port, {data, [Code | Bytes]}}. Codes and bytes:
/// docs/internals/files.md, "Replies".
namespace vmrun::efile {

void reply_ok(ErlDrvPort port);
void reply_error(ErlDrvPort port, int error);
void reply_number(ErlDrvPort port, std::uint64_t number);
void reply_data(ErlDrvPort port, const char* bytes, std::size_t size);
/// Sends a part of a binary, which is not copied if sharing saves memory or time.
void reply_data(ErlDrvPort port, ErlDrvBinary* binary, std::size_t offset, std::size_t size);
/// Answers an empty PREADV.
void reply_no_pieces(ErlDrvPort port);
/// Sends the result of an operation.
void reply_result(ErlDrvPort port, Operation& op);

}  // namespace vmrun::efile
