// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "probes/engine/operations.hpp"
#include "vm/process/process.hpp"

/// Terms and stacks as scripts look into them, in the thread that fires. The functions only read,
/// take a bounded number of steps, and do not allocate.
namespace vmrun::attach {

/// Returns false for a bad argument. n: the subroutine's other argument.
bool term_part(d::Subroutine subroutine, std::uint64_t term, std::int64_t n, std::uint64_t& out);
/// Works as Host::map_value.
bool map_value(std::uint64_t map, std::int64_t key, std::uint64_t& out);
bool map_value(std::uint64_t map, std::string_view key, std::uint64_t& out);
bool term_number(d::Subroutine subroutine, std::uint64_t term, std::int64_t& out);

/// Puts the addresses of instructions of a process's stack, innermost first, and returns how many.
/// from: the innermost one; nullptr: it is unknown, and the first address is that of its caller.
std::size_t stack_of(const Process& p, const Word* from, std::uint64_t* out, std::size_t most);

/// Returns how many addresses there are, `most` at most.
std::size_t stack_depth_of(const Process& p, const Word* from, std::size_t most);

}  // namespace vmrun::attach
