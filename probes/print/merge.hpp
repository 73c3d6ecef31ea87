// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "probes/engine/record.hpp"
#include "probes/engine/ring.hpp"

/// Brings the records of several rings into the order of their timestamps. One consumer's thread
/// uses it.
namespace vmrun::d {

/// The records that were taken from one ring and have not been read yet.
class RecordStream {
 public:
  explicit RecordStream(Ring& ring) : ring_(&ring) {}

  Ring& ring() const { return *ring_; }
  /// Takes all records that are in the ring now. Returns whether there were any.
  bool fill() {
    if (!has()) {
      words_.clear();
      at_ = 0;
    }
    filled_at_ = words_.size();
    return ring_->take(words_, ring_->capacity_bytes() / 8) != 0;
  }
  /// Whether the last fill brought a record that is not younger than `until`.
  bool filled(std::uint64_t until) const {
    for (std::size_t at = filled_at_; at < words_.size();) {
      const Record& head = *reinterpret_cast<const Record*>(words_.data() + at);
      if (head.timestamp <= until) return true;
      if (head.bytes < sizeof(Record)) return false;  // the other side wrote nonsense
      at += head.bytes / 8;
    }
    return false;
  }
  bool has() const { return at_ < words_.size(); }
  /// Calls look(head, body) for each record that has not been read.
  template <class Look>
  void look_ahead(Look look) const {
    RecordStream ahead = *this;
    for (std::span<const std::uint64_t> body; ahead.has();) {
      const Record head = ahead.head();
      if (ahead.pass(body)) look(head, body);
    }
  }
  /// Takes whole records that have not been read yet, at most `most` words of them (but one record
  /// at least). They stay until fill. The result is empty when there are none.
  std::span<const std::uint64_t> take_words(std::size_t most) {
    const std::size_t from = at_;
    for (std::span<const std::uint64_t> body;
         has() && (at_ == from || at_ - from + head().bytes / 8 <= most);) {
      const std::size_t before = at_;
      if (!pass(body)) return {words_.data() + from, before - from};
    }
    return {words_.data() + from, at_ - from};
  }
  const Record& head() const { return *reinterpret_cast<const Record*>(words_.data() + at_); }
  /// Goes behind the record at the head. `body` gets its words without the head, which stay until
  /// fill. Returns false when the other side wrote nonsense; the rest of the stream is dropped
  /// then.
  bool pass(std::span<const std::uint64_t>& body) {
    constexpr std::size_t kHead = sizeof(Record) / 8;
    const std::size_t words = head().bytes / 8, left = words_.size() - at_;
    if (words < kHead || words > left) {
      at_ = words_.size();
      return false;
    }
    body = {words_.data() + at_ + kHead, words - kHead};
    at_ += words;
    return true;
  }

 private:
  Ring* ring_;
  std::vector<std::uint64_t> words_;
  std::size_t at_ = 0, filled_at_ = 0;
};

/// A stream of a running tracing. Rings that keep the newest records are read when it has ended.
class TracingStream : public RecordStream {
 public:
  TracingStream(Ring& ring, const bool& has_ended) : RecordStream(ring), has_ended_(has_ended) {}
  bool fill() { return (has_ended_ || ring().policy() != Options::Policy::kRing) && RecordStream::fill(); }
  /// Whether this ring says that there are more rings than the `told` ones.
  bool is_ring_missing(std::size_t told) const { return ring().said_rings() > told; }

 private:
  const bool& has_ended_;
};

/// A record gets its timestamp before it is in its ring. So a record younger than this, in
/// nanoseconds, waits for records of other threads that may still come in front of it. A thread may
/// be interrupted for longer in the middle of a firing. Its record comes late then, but never after
/// a record that it caused: see fill_all.
inline constexpr std::uint64_t kSettledNs = 1'000'000;

/// Fills the streams until no record is missing that caused a record which is there and not younger
/// than `until`. An event may cause another, as when a process moves to another scheduler or a
/// message is received. It is in its ring before the other one is put. So when a round brings no
/// record of that age, all records before are there. The number of rounds is bounded, because what
/// fires now is younger. find_new() is called before each round and adds streams. Returns whether
/// anything came.
template <class Streams, class Find>
bool fill_all(Streams& streams, std::uint64_t until, Find find_new) {
  bool any = false;
  for (bool more = true; more;) {
    more = false;
    find_new();
    for (auto& stream : streams) {
      if (!stream->fill()) continue;
      any = true;
      more = more || stream->filled(until);
    }
  }
  return any;
}

/// Calls take(stream), which passes a record, for each record that is not younger than `until`.
/// streams: pointers to objects with the functions of a RecordStream. Returns whether there was any
/// record.
template <class Streams, class Take>
bool merge(Streams& streams, std::uint64_t until, Take take) {
  bool any = false;
  for (;;) {
    typename Streams::value_type::pointer first = nullptr;
    std::uint64_t other = until;  // when the next stream's turn comes
    for (auto& stream : streams) {
      if (!stream->has()) continue;
      if (first == nullptr || stream->head().timestamp < first->head().timestamp) {
        if (first != nullptr) other = std::min(other, first->head().timestamp);
        first = stream.get();
      } else {
        other = std::min(other, stream->head().timestamp);
      }
    }
    if (first == nullptr || first->head().timestamp > until) return any;
    do take(*first);
    while (first->has() && first->head().timestamp <= other);
    any = true;
  }
}

}  // namespace vmrun::d
