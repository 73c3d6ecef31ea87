// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Writes a document of the Trace Event Format, which Perfetto's viewer and chrome://tracing open:
/// slices on tracks, arrows between them (flows), and spans that belong to no track. It keeps what
/// those viewers rely on. Every slice that begins ends, times never go back, numbers of groups and
/// tracks are small integers, and an arrow begins and ends inside a slice. One thread uses it.
/// Spec: "Trace Event Format" (Google, 2016), JSON Object Format.
namespace vmrun::d {

class TraceEvents {
 public:
  using Track = std::uint32_t;  // from add_track
  struct Argument {
    std::string_view name;
    std::variant<std::string_view, std::int64_t> value;
  };
  using Arguments = std::initializer_list<Argument>;

  /// Everything is appended to `out`, whose owner may empty it between two calls.
  explicit TraceEvents(std::string& out);

  /// A group is what the format calls a process, and a track is one of its threads. order: the
  /// position, counted from the top.
  void add_group(std::int64_t group, std::string_view name, std::int64_t order);
  /// number: that of the thread, unique in its group. The track is shown under its name, once it
  /// has one.
  Track add_track(std::int64_t group, std::int64_t number);
  void name_track(Track track, std::string_view name);

  // Times are nanoseconds. A time before what has been written already is replaced by that.
  void begin_slice(Track track, std::uint64_t time, std::string_view name, Arguments arguments = {});
  /// Ends the innermost open slice; does nothing when there is none.
  void end_slice(Track track, std::uint64_t time, Arguments arguments = {});
  void end_slices(Track track, std::uint64_t time, Arguments of_outermost = {});
  std::uint32_t open_slices(Track track) const { return tracks_[track].open; }
  void instant(Track track, std::uint64_t time, std::string_view name, Arguments arguments = {});

  /// Begins a flow inside the slice that is open on the track.
  void begin_flow(Track track, std::uint64_t time, std::uint64_t id, std::string_view name);
  void end_flow(Track track, std::uint64_t time, std::uint64_t id, std::string_view name);

  /// A span begins and ends under one id, on any thread. Spans with the same id nest.
  void begin_span(std::int64_t group, std::uint64_t time, std::string_view category, std::uint64_t id,
                  std::string_view name, Arguments arguments = {});
  void end_span(std::int64_t group, std::uint64_t time, std::string_view category, std::uint64_t id,
                std::string_view name, Arguments arguments = {});
  void span_instant(std::int64_t group, std::uint64_t time, std::string_view category, std::uint64_t id,
                    std::string_view name, Arguments arguments = {});

  /// Ends what is open, and the document. facts: what a reader should know of the document as a
  /// whole.
  void finish(std::uint64_t time, Arguments facts);

  /// Returns how many events were written, without those that name groups and tracks.
  std::uint64_t written() const { return written_; }

 private:
  struct TrackState {
    std::int64_t group, number;
    std::uint32_t open = 0;
    std::string name;
  };
  void put_start(char phase, std::int64_t group, std::int64_t thread);
  void put_event(char phase, std::int64_t group, std::int64_t thread, std::uint64_t time);
  void put_flow(char phase, Track track, std::uint64_t time, std::uint64_t id, std::string_view name);
  void put_span(char phase, std::int64_t group, std::uint64_t time, std::string_view category,
                std::uint64_t id, std::string_view name, Arguments arguments);
  void put_arguments(Arguments arguments);
  void put_metadata(std::string_view what, std::int64_t group, std::int64_t thread, Argument argument);

  std::string& out_;
  std::vector<TrackState> tracks_;
  std::uint64_t last_ = 0, written_ = 0;
  bool first_ = true;
};

}  // namespace vmrun::d
