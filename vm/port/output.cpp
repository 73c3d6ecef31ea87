// SPDX-License-Identifier: Apache-2.0
#include "vm/port/output.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "vm/base/allocate.hpp"
#include "vm/heap/build.hpp"
#include "vm/port/callbacks.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/term/iodata.hpp"

namespace vmrun {
namespace {

constexpr std::size_t kUsualPieces = 4;

/// Returns the reference-counted binary that a bit string of whole, aligned bytes lies in, or
/// nullptr when it has to be copied.
[[gnu::no_stack_protector]] RefcBinary* shared_binary(Term bits) {
  const Term* object = original_of(bits).boxed_ptr();
  if (object->header_sub() != Term::Sub::kRefcBinary) return nullptr;
  const BitView v = bits_of(bits);
  return v.aligned() && v.size_bytes() > kHeapBinaryMaxBytes
             ? reinterpret_cast<RefcBinary*>(const_cast<Term*>(object))
             : nullptr;
}

}  // namespace

PortOutput::PortOutput(PortOutput&& other) noexcept
    : size_(other.size_),
      as_vector_(other.as_vector_),
      vectors_(std::move(other.vectors_)),
      binaries_(std::move(other.binaries_)) {
  if (other.bytes_ == other.inline_) {
    bytes_ = inline_;
    std::memcpy(inline_, other.inline_, size_);
  } else {
    bytes_ = std::exchange(other.bytes_, nullptr);
  }
  other.binaries_.clear();
}

PortOutput::~PortOutput() {
  if (bytes_ != inline_) free_bytes(bytes_);
  for (ErlDrvBinary* b : binaries_)
    if (b) binary_of(b)->release();
}

bool PortOutput::gather(Term data, bool as_vector) {
  as_vector_ = as_vector;
  std::size_t copied = 0;
  const bool ok = walk_iodata(
      data,
      [&](std::uint8_t) {
        ++size_;
        ++copied;
      },
      [&](Term bits) {
        const Word n = bit_size_of(bits);
        if (n & 7) return false;
        size_ += n / 8;
        if (!as_vector || !shared_binary(bits)) copied += n / 8;
        return true;
      });
  if (!ok) return false;
  Binary* binary = nullptr;
  std::uint8_t* to;
  if (as_vector) {
    vectors_.reserve(kUsualPieces);
    binaries_.reserve(kUsualPieces);
    vectors_.push_back({nullptr, 0});
    binaries_.push_back(nullptr);
    if (copied) {
      binary = Binary::create(copied);
      if (!binary) out_of_memory("data for a port", copied);
    }
    to = binary ? binary->data : nullptr;
  } else {
    to = bytes_ =
        copied <= kInline ? inline_ : static_cast<std::uint8_t*>(allocate_bytes(copied, "data for a port"));
  }
  const std::uint8_t* begin = to;  // of the run being copied
  const auto end_run = [&] {
    if (to == begin) return;
    binary->retain();
    vectors_.push_back(
        {reinterpret_cast<char*>(const_cast<std::uint8_t*>(begin)), static_cast<std::size_t>(to - begin)});
    binaries_.push_back(driver_binary(binary));
    begin = to;
  };
  walk_iodata(
      data, [&](std::uint8_t b) { *to++ = b; },
      [&](Term bits) __attribute__((no_stack_protector)) {
        const BitView v = bits_of(bits);
        if (RefcBinary* shared = as_vector ? shared_binary(bits) : nullptr) {
          end_run();
          shared->binary->retain();
          vectors_.push_back({reinterpret_cast<char*>(const_cast<std::uint8_t*>(v.bytes())), v.size_bytes()});
          binaries_.push_back(driver_binary(shared->binary));
          return true;
        }
        if (v.size_bits == 0) return true;
        if (v.aligned()) std::memcpy(to, v.bytes(), v.size_bytes());
        else copy_bits(to, 0, v.base, v.offset_bits, v.size_bits);
        to += v.size_bytes();
        return true;
      });
  if (as_vector) end_run();
  if (binary) binary->release();  // the elements hold references
  return true;
}

void PortOutput::tell_tracer(Port& p, Term caller) const {
  if (!caller) caller = atoms::undefined;
  const auto* bytes = reinterpret_cast<const char*>(bytes_);
  if (!as_vector_) return tell_port_receive(p.tracing, p.id, caller, atoms::command, bytes, size_);
  Arena arena;
  // OTP's spawn driver takes one run of bytes.
  if (p.driver->name == "spawn") {
    std::string whole;
    for (const SysIOVec& v : vectors_) whole.append(static_cast<const char*>(v.iov_base), v.iov_len);
    return tell_port_receive(p.tracing, p.id, caller, atoms::command, whole.data(), whole.size());
  }
  ListBuilder list(arena);
  for (std::size_t i = 1; i < vectors_.size(); ++i)
    list.add(make_binary(arena, vectors_[i].iov_base, vectors_[i].iov_len));
  tell_port_receive(p.tracing, p.id, caller, atoms::command, list.finish());
}

inline void PortOutput::give(Port& p, Term caller) {
  if (!as_vector_) return call_output(p, caller, reinterpret_cast<char*>(bytes_), size_);
  ErlIOVec vector{static_cast<int>(vectors_.size()), size_, vectors_.data(), binaries_.data()};
  call_outputv(p, caller, &vector);
}

[[gnu::cold, gnu::noinline]] void PortOutput::give_reported(Port& p, Term caller) {
  tell_tracer(p, caller);
  give(p, caller);
}

[[gnu::no_stack_protector]] void PortOutput::give_to(Port& p, Term caller) {
  p.output_bytes.store(p.output_bytes.load(std::memory_order_relaxed) + size_, std::memory_order_relaxed);
  if (p.tracing.is_on(kTraceReceive)) [[unlikely]]
    return give_reported(p, caller);
  give(p, caller);
}

}  // namespace vmrun
