// SPDX-License-Identifier: Apache-2.0
#include "probes/views/totals_head.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "probes/views/units.hpp"

namespace vmrun::d {
namespace {

using screen::Look;
using screen::Piece;

constexpr double kNearLimit = 0.8;
constexpr std::size_t kMostSchedulers = 16;  // shown one by one
constexpr double kReclaimedWordBytes = 8;

struct Counted {
  const char* total;
  const char* shown;
};
constexpr Counted kCounts[] = {{"process_count", "processes"},
                               {"port_count", "ports"},
                               {"atom_count", "atoms"},
                               {"ets_count", "tables"}};
constexpr Counted kMemory[] = {{"memory_total", "memory"},    {"memory_processes", "processes"},
                               {"memory_binary", "binaries"}, {"memory_ets", "tables"},
                               {"memory_code", "code"},       {"memory_atom", "atoms"}};

double sum(std::span<const Totals> machines, std::string_view name) {
  double all = 0;
  for (const Totals& t : machines) all += static_cast<double>(t.value(name));
  return all;
}

Piece warning(std::string text) { return {"!" + text, Look::kWarning}; }

/// Processes 120 of 262k, with a warning when one of the machines is near its limit.
Piece count_piece(std::span<const Totals> machines, const Counted& counted) {
  std::uint64_t value = 0, limit = 0;
  bool is_near = false;
  for (const Totals& t : machines)
    if (const Totals::Total* total = t.find(counted.total)) {
      value += total->value;
      limit += total->limit;
      is_near |= total->limit != 0 &&
                 static_cast<double>(total->value) >= kNearLimit * static_cast<double>(total->limit);
    }
  std::string text = fmt::format("{} {}", counted.shown, value);
  if (limit != 0) text += " of " + count_text(static_cast<double>(limit));
  return is_near ? warning(std::move(text)) : Piece{std::move(text)};
}

std::vector<double> uses_of(std::span<const Totals> before, std::span<const Totals> now) {
  std::vector<double> uses;
  for (std::size_t m = 0; m < std::min(before.size(), now.size()); ++m)
    for (std::size_t i = 0; i < std::min(before[m].schedulers.size(), now[m].schedulers.size()); ++i) {
      const auto &then = before[m].schedulers[i], &here = now[m].schedulers[i];
      const auto idle = static_cast<double>(here.idle_ns - then.idle_ns);
      const auto all = static_cast<double>(here.at_ns - then.at_ns);
      uses.push_back(all > 0 ? std::clamp(1 - idle / all, 0.0, 1.0) : 0);
    }
  return uses;
}

std::vector<Piece> schedulers_part(std::span<const Totals> before, std::span<const Totals> now) {
  std::size_t schedulers = 0;
  std::uint64_t waiting = 0;
  for (const Totals& t : now) {
    schedulers += t.schedulers.size();
    for (const auto& s : t.schedulers) waiting += s.queue;
  }
  std::vector<Piece> part{{fmt::format("schedulers {}", schedulers), Look::kStrong}};
  const std::vector<double> uses = uses_of(before, now);
  double all = 0;
  for (const double use : uses) all += use;
  if (!uses.empty()) part.push_back({"use " + share_text(all / static_cast<double>(uses.size()))});
  std::string queue = fmt::format("run queue {}", waiting);
  part.push_back(waiting > schedulers ? warning(std::move(queue)) : Piece{std::move(queue)});
  for (const auto& [total, shown] :
       {Counted{"dirty_cpu_queue", "dirty CPU queue"}, {"dirty_io_queue", "dirty I/O queue"}})
    if (const double n = sum(now, total); n != 0) part.push_back({fmt::format("{} {}", shown, n)});
  if (uses.size() > 1 && uses.size() <= kMostSchedulers)
    for (std::size_t i = 0; i < uses.size(); ++i)
      part.push_back({fmt::format("{}: {:>3.0f}%", i + 1, uses[i] * 100), Look::kFaint});
  return part;
}

std::vector<Piece> rates_part(std::span<const Totals> before, std::span<const Totals> now) {
  std::vector<Piece> part;
  if (before.empty()) return part;
  const double seconds = static_cast<double>(now[0].at_ns - before[0].at_ns) / 1e9;
  if (seconds <= 0) return part;
  const auto rate = [&](const char* name) {
    return std::max(sum(now, name) - sum(before, name), 0.0) / seconds;
  };
  part.push_back({fmt::format("collections {}/s", count_text(rate("garbage_collection")))});
  part.push_back({fmt::format("reclaimed {}/s", bytes_text(rate("reclaimed_words") * kReclaimedWordBytes))});
  part.push_back({fmt::format("reductions {}/s", count_text(rate("reductions")))});
  part.push_back({fmt::format("ports in {}/s", bytes_text(rate("io_input")))});
  part.push_back({fmt::format("out {}/s", bytes_text(rate("io_output")))});
  return part;
}

}  // namespace

HeadParts head_of(std::span<const Totals> before, std::span<const Totals> now) {
  HeadParts parts;
  if (now.empty()) return parts;
  parts.push_back(schedulers_part(before, now));
  auto& counts = parts.emplace_back();
  for (const Counted& counted : kCounts) counts.push_back(count_piece(now, counted));
  auto& memory = parts.emplace_back();
  for (const auto& [total, shown] : kMemory)
    memory.push_back({fmt::format("{} {}", shown, bytes_text(sum(now, total))),
                      memory.empty() ? Look::kStrong : Look::kPlain});
  if (auto rates = rates_part(before, now); !rates.empty()) parts.push_back(std::move(rates));
  return parts;
}

}  // namespace vmrun::d
