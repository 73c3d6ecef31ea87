#pragma once

#include <cstddef>
#include <cstdint>

#include "probes/engine/operations.hpp"
#include "vm/process/process.hpp"

/// Terms and stacks as scripts look into them, in the thread that fires: only read, in a bounded
/// number of steps, nothing allocated.
namespace vmrun::attach {

/// False: a bad argument. n: what the subroutine takes besides.
bool term_part(d::Subroutine subroutine, std::uint64_t term, std::int64_t n, std::uint64_t& out);
/// As Host::map_value.
bool map_value(std::uint64_t map, std::int64_t key, std::uint64_t& out);
bool map_value(std::uint64_t map, std::string_view key, std::uint64_t& out);
bool term_number(d::Subroutine subroutine, std::uint64_t term, std::int64_t& out);

/// Addresses of the instructions of a process's stack, innermost first. from: the innermost;
/// nullptr: it is not known, and the first is that of its caller.
std::size_t stack_of(const Process& p, const Word* from, std::uint64_t* out, std::size_t most);

/// How many those are, at most `most`.
std::size_t stack_depth_of(const Process& p, const Word* from, std::size_t most);

}  // namespace vmrun::attach
