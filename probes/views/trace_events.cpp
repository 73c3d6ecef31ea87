// SPDX-License-Identifier: Apache-2.0
// Each event is one line, so that grep and diff are of use:
//   {"ph":"B","pid":1,"tid":2,"ts":12.345,"name":"lists:map/2","args":{"need":3}}
#include "probes/views/trace_events.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "probes/views/json_writer.hpp"

namespace vmrun::d {

TraceEvents::TraceEvents(std::string& out) : out_(out) {
  out_ += "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
}

void TraceEvents::put_start(char phase, std::int64_t group, std::int64_t thread) {
  fmt::format_to(std::back_inserter(out_), "{}\n{{\"ph\":\"{}\",\"pid\":{},\"tid\":{}", first_ ? "" : ",",
                 phase, group, thread);
  first_ = false;
}

/// The format's times are microseconds.
void TraceEvents::put_event(char phase, std::int64_t group, std::int64_t thread, std::uint64_t time) {
  last_ = std::max(last_, time);
  ++written_;
  put_start(phase, group, thread);
  fmt::format_to(std::back_inserter(out_), ",\"ts\":{}.{:03}", last_ / 1000, last_ % 1000);
}

void TraceEvents::put_arguments(Arguments arguments) {
  if (arguments.size() == 0) return;
  out_ += ",\"args\":{";
  for (const Argument& argument : arguments)
    std::visit([&](const auto& value) { put_member(out_, argument.name, value); }, argument.value);
  out_ += '}';
}

void TraceEvents::put_metadata(std::string_view what, std::int64_t group, std::int64_t thread,
                               Argument argument) {
  put_start('M', group, thread);
  put_member(out_, "name", what);
  put_arguments({argument});
  out_ += '}';
}

void TraceEvents::add_group(std::int64_t group, std::string_view name, std::int64_t order) {
  put_metadata("process_name", group, 0, {"name", name});
  put_metadata("process_sort_index", group, 0, {"sort_index", order});
}

TraceEvents::Track TraceEvents::add_track(std::int64_t group, std::int64_t number) {
  tracks_.push_back({group, number, 0, {}});
  put_metadata("thread_sort_index", group, number, {"sort_index", number});
  return static_cast<Track>(tracks_.size() - 1);
}

void TraceEvents::name_track(Track track, std::string_view name) {
  TrackState& state = tracks_[track];
  if (state.name == name) return;
  state.name = name;
  put_metadata("thread_name", state.group, state.number, {"name", name});
}

void TraceEvents::begin_slice(Track track, std::uint64_t time, std::string_view name, Arguments arguments) {
  TrackState& state = tracks_[track];
  ++state.open;
  put_event('B', state.group, state.number, time);
  put_member(out_, "name", name);
  put_arguments(arguments);
  out_ += '}';
}

void TraceEvents::end_slice(Track track, std::uint64_t time, Arguments arguments) {
  TrackState& state = tracks_[track];
  if (state.open == 0) return;
  --state.open;
  put_event('E', state.group, state.number, time);
  put_arguments(arguments);
  out_ += '}';
}

void TraceEvents::end_slices(Track track, std::uint64_t time, Arguments of_outermost) {
  while (tracks_[track].open > 1) end_slice(track, time);
  end_slice(track, time, of_outermost);
}

void TraceEvents::instant(Track track, std::uint64_t time, std::string_view name, Arguments arguments) {
  const TrackState& state = tracks_[track];
  put_event('i', state.group, state.number, time);
  put_member(out_, "name", name);
  out_ += ",\"s\":\"t\"";
  put_arguments(arguments);
  out_ += '}';
}

void TraceEvents::put_flow(char phase, Track track, std::uint64_t time, std::uint64_t id,
                           std::string_view name) {
  const TrackState& state = tracks_[track];
  put_event(phase, state.group, state.number, time);
  fmt::format_to(std::back_inserter(out_), ",\"cat\":\"flow\",\"id\":\"0x{:x}\"", id);
  put_member(out_, "name", name);
  if (phase == 'f') out_ += ",\"bp\":\"e\"";  // belongs to the slice around it, not to the next one
  out_ += '}';
}

void TraceEvents::begin_flow(Track track, std::uint64_t time, std::uint64_t id, std::string_view name) {
  put_flow('s', track, time, id, name);
}

void TraceEvents::end_flow(Track track, std::uint64_t time, std::uint64_t id, std::string_view name) {
  put_flow('f', track, time, id, name);
}

void TraceEvents::put_span(char phase, std::int64_t group, std::uint64_t time, std::string_view category,
                           std::uint64_t id, std::string_view name, Arguments arguments) {
  put_event(phase, group, 0, time);
  put_member(out_, "cat", category);
  fmt::format_to(std::back_inserter(out_), ",\"id\":\"0x{:x}\"", id);
  put_member(out_, "name", name);
  put_arguments(arguments);
  out_ += '}';
}

void TraceEvents::begin_span(std::int64_t group, std::uint64_t time, std::string_view category,
                             std::uint64_t id, std::string_view name, Arguments arguments) {
  put_span('b', group, time, category, id, name, arguments);
}

void TraceEvents::end_span(std::int64_t group, std::uint64_t time, std::string_view category,
                           std::uint64_t id, std::string_view name, Arguments arguments) {
  put_span('e', group, time, category, id, name, arguments);
}

void TraceEvents::span_instant(std::int64_t group, std::uint64_t time, std::string_view category,
                               std::uint64_t id, std::string_view name, Arguments arguments) {
  put_span('n', group, time, category, id, name, arguments);
}

void TraceEvents::finish(std::uint64_t time, Arguments facts) {
  for (Track track = 0; track < tracks_.size(); ++track) end_slices(track, time);
  out_ += "\n],\"otherData\":{";
  for (const Argument& fact : facts)
    std::visit([&](const auto& value) { put_member(out_, fact.name, value); }, fact.value);
  out_ += "}}\n";
}

}  // namespace vmrun::d
