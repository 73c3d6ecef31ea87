// SPDX-License-Identifier: Apache-2.0
#include "vm/base/processors.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "vm/base/affinity.hpp"

namespace vmrun {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

bool has_part(const std::string& list, std::string_view part) {
  const std::vector<std::string> parts = split(list, ',');
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

/// Reads the numbers of a file; none when there is no file, or it begins with another word.
std::vector<long long> numbers_in(const std::string& path) {
  std::vector<long long> numbers;
  std::ifstream in(path);
  for (long long n; in >> n;) numbers.push_back(n);
  return numbers;
}

/// The number behind a prefix: 12 of "cpu12".
std::optional<int> number_behind(const std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return {};
  int n = 0;
  const char *begin = name.data() + prefix.size(), *end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(begin, end, n);
  return error == std::errc() && stop == end && begin != end ? std::optional(n) : std::nullopt;
}

// ---- Quota --------------------------------------------------------------------------------------

/// A mounted hierarchy of cgroups that has the controller cpu.
struct Hierarchy {
  std::string root, mounted_at;  // the cgroup that is mounted, and where
  bool is_version_2 = false;
};

/// Parses a line of /proc/self/mountinfo (proc(5)): ID PARENT DEVICE ROOT PLACE OPTIONS … - TYPE
/// SOURCE OPTIONS.
std::optional<Hierarchy> hierarchy_of(const std::string& line) {
  if (line.find(" - cgroup") == std::string::npos) return {};  // most lines; a start reads them all
  const std::vector<std::string> words = split(line, ' ');
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (dash - words.begin() < 6 || words.end() - dash < 4) return {};
  if (dash[1] == "cgroup2") return Hierarchy{words[3], words[4], true};
  if (dash[1] == "cgroup" && has_part(dash[3], "cpu")) return Hierarchy{words[3], words[4], false};
  return {};
}

/// The cgroup of this program as in /proc/self/cgroup, which has lines of ID:CONTROLLERS:PATH.
std::optional<std::string> own_cgroup(const std::string& root, bool is_version_2) {
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (is_version_2 ? line.starts_with("0::") : has_part(controllers, "cpu")) return line.substr(second + 1);
  }
  return {};
}

/// Returns the folder of a cgroup; nothing when the cgroup is not below the mounted one.
std::optional<std::string> folder_of(const Hierarchy& hierarchy, const std::string& cgroup) {
  if (hierarchy.root == "/") return hierarchy.mounted_at + cgroup;
  if (!(cgroup + "/").starts_with(hierarchy.root + "/")) return {};
  return hierarchy.mounted_at + cgroup.substr(hierarchy.root.size());
}

/// Prefers version 1: both versions may be mounted, but a controller is in one of them.
std::optional<Hierarchy> find_hierarchy(const std::string& root) {
  std::optional<Hierarchy> found;
  std::ifstream in(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const std::optional<Hierarchy> hierarchy = hierarchy_of(line);
    if (hierarchy && (!found || !hierarchy->is_version_2)) found = hierarchy;
  }
  return found;
}

/// Returns {quota, period} in microseconds, which version 2 has in one file and version 1 in two. A
/// quota that is not a positive number is not a limit.
std::optional<std::pair<long long, long long>> limit_in(const std::string& folder, bool is_version_2) {
  if (is_version_2) {
    std::ifstream in(folder + "/cpu.max");
    std::string quota;
    long long period = 0;
    if (!(in >> quota >> period)) return {};
    return std::pair(quota == "max" ? -1 : std::atoll(quota.c_str()), period);
  }
  const auto quota = numbers_in(folder + "/cpu.cfs_quota_us"),
             period = numbers_in(folder + "/cpu.cfs_period_us");
  if (quota.empty() || period.empty()) return {};
  return std::pair(quota[0], period[0]);
}

}  // namespace

std::optional<unsigned> cpu_quota(const std::string& root, unsigned most) {
  const std::optional<Hierarchy> hierarchy = find_hierarchy(root);
  if (!hierarchy) return {};
  const std::optional<std::string> cgroup = own_cgroup(root, hierarchy->is_version_2);
  const std::optional<std::string> folder = cgroup ? folder_of(*hierarchy, *cgroup) : std::nullopt;
  const auto limit = folder ? limit_in(root + *folder, hierarchy->is_version_2) : std::nullopt;
  if (!limit) return {};
  const auto [quota, period] = *limit;
  if (quota <= 0 || period <= 0) return most;
  return static_cast<unsigned>(std::clamp<long long>(quota / period, 1, most));
}

// ---- Places -------------------------------------------------------------------------------------

namespace {

/// Maps each processor to its node.
std::map<int, int> node_by_processor(const std::string& root) {
  std::map<int, int> nodes;
  std::error_code error;
  for (const auto& folder : fs::directory_iterator(root + "/sys/devices/system/node", error)) {
    const std::optional<int> node = number_behind(folder.path().filename(), "node");
    if (!node) continue;
    for (const auto& entry : fs::directory_iterator(folder.path(), error))
      if (const std::optional<int> logical = number_behind(entry.path().filename(), "cpu"))
        nodes[*logical] = *node;
  }
  return nodes;
}

auto place_in_machine(const ProcessorPlace& p) {
  return std::tuple(p.package, p.part, p.core, p.thread, p.logical);
}
auto entity(const ProcessorPlace& p) { return std::tuple(p.node, p.package, p.part, p.core, p.thread); }

void sort_places(std::vector<ProcessorPlace>& places) {
  std::sort(places.begin(), places.end(), [](const ProcessorPlace& a, const ProcessorPlace& b) {
    return place_in_machine(a) < place_in_machine(b);
  });
}

/// Whether a key is the same for two of them.
template <class Key>
bool has_twice(const std::vector<ProcessorPlace>& places, Key key) {
  std::vector<decltype(key(places[0]))> keys;
  for (const ProcessorPlace& place : places) keys.push_back(key(place));
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

/// Each package is in one node, or each of its processors is in a node inside. Either all packages
/// have nodes, or none has. The places are sorted.
bool nodes_make_sense(const std::vector<ProcessorPlace>& places) {
  const auto has_node = [](const ProcessorPlace& p) { return p.node >= 0 || p.part >= 0; };
  for (std::size_t i = 1; i < places.size(); ++i) {
    const ProcessorPlace &before = places[i - 1], &here = places[i];
    if (has_node(before) != has_node(here)) return false;
    if (before.package == here.package && (before.node != here.node || (before.part < 0) != (here.part < 0)))
      return false;
  }
  return true;
}

/// A single node for all processors counts as no node. A node that shares a package with another is
/// a part of that package.
void sort_out_nodes(std::vector<ProcessorPlace>& places) {
  std::map<int, std::set<int>> nodes_of_package;
  std::set<int> nodes;
  for (const ProcessorPlace& place : places) {
    nodes_of_package[place.package].insert(place.node);
    nodes.insert(place.node);
  }
  for (ProcessorPlace& place : places) {
    if (nodes_of_package[place.package].size() > 1) place.part = place.node;
    if (nodes.size() == 1 || place.part >= 0) place.node = -1;
  }
}

}  // namespace

std::vector<ProcessorPlace> processor_places(const std::string& root) {
  std::vector<ProcessorPlace> places;
  for (const auto& [logical, node] : node_by_processor(root)) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(logical) + "/topology/";
    const auto package = numbers_in(folder + "physical_package_id"), core = numbers_in(folder + "core_id");
    if (package.empty() || core.empty()) continue;
    places.push_back({.node = node,
                      .package = static_cast<int>(package[0]),
                      .core = static_cast<int>(core[0]),
                      .logical = logical});
  }
  sort_out_nodes(places);
  sort_places(places);
  return places;
}

const char* settle_places(std::vector<ProcessorPlace>& places) {
  const auto logical = [](const ProcessorPlace& p) { return p.logical; };
  sort_places(places);
  if (has_twice(places, logical)) return "not unique logical identifiers";
  if (has_twice(places, entity)) return "not unique entities";
  if (!nodes_make_sense(places)) return "invalid nodes declaration";
  const int first = places.empty() ? -1 : places[0].node;
  if (std::all_of(places.begin(), places.end(), [&](const ProcessorPlace& p) { return p.node == first; }))
    for (ProcessorPlace& place : places) place.node = -1;
  return nullptr;
}

// ---- All of it ----------------------------------------------------------------------------------

namespace {

unsigned configuration(int name) {
  const long n = sysconf(name);
  return n > 0 ? static_cast<unsigned>(n) : 1;
}

Processors find_processors() {
  Processors found;
  found.configured = configuration(_SC_NPROCESSORS_CONF);
  found.online = std::min(found.configured, configuration(_SC_NPROCESSORS_ONLN));
  const std::optional<ProcessorSet> allowed = ProcessorSet::of_program();
  found.available = allowed ? std::min(allowed->size(), found.online) : found.online;
  found.quota = cpu_quota("", found.online);
  return found;
}

struct Known {
  std::mutex mutex;
  Processors processors = find_processors();
  std::optional<std::vector<ProcessorPlace>> places;  // nothing until detected_places is called
  std::vector<ProcessorPlace> defined;
  bool reads_places = true;

  std::vector<ProcessorPlace> read_places() const {
    return reads_places ? processor_places("") : std::vector<ProcessorPlace>();
  }
};
Known& known() {
  static auto& k = *new Known;  // never destroyed: threads outlive main
  return k;
}

}  // namespace

unsigned Processors::usable() const { return std::min(available, quota.value_or(available)); }

Processors processors() {
  Known& k = known();
  const std::lock_guard guard(k.mutex);
  return k.processors;
}

std::vector<ProcessorPlace> known_places() {
  std::vector<ProcessorPlace> defined = defined_places();
  return defined.empty() ? detected_places() : defined;
}

std::vector<ProcessorPlace> defined_places() {
  Known& k = known();
  const std::lock_guard guard(k.mutex);
  return k.defined;
}

void define_places(std::vector<ProcessorPlace> places) {
  Known& k = known();
  const std::lock_guard guard(k.mutex);
  k.defined = std::move(places);
}

std::vector<ProcessorPlace> detected_places() {
  Known& k = known();
  const std::lock_guard guard(k.mutex);
  if (!k.places) k.places = k.read_places();
  return *k.places;
}

void leave_places_unknown() {
  Known& k = known();
  const std::lock_guard guard(k.mutex);
  k.reads_places = false;
}

bool update_processors() {
  Known& k = known();
  const std::lock_guard guard(k.mutex);
  const Processors before = std::exchange(k.processors, find_processors());
  const auto places_before = std::exchange(k.places, k.read_places());
  return k.processors != before || (places_before && k.places != places_before);
}

}  // namespace vmrun
