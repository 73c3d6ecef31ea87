#include "runtime/epmd/registry.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace vmrun::epmd {
namespace {

constexpr std::uint32_t kLeastCreation = 4;        // smaller ones are for nodes with small creations
constexpr std::uint16_t kLongCreationVersion = 6;  // nodes of this version take creations of 32 bits
constexpr std::uint32_t kRefused = 99;             // in place of a creation
constexpr std::size_t kLongestName = 255;

/// Reads numbers and texts from the front. Once something is missing, everything is.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  std::uint16_t number(std::size_t size) {
    std::uint32_t n = 0;
    for (const char c : text(size)) n = n << 8 | static_cast<std::uint8_t>(c);
    return static_cast<std::uint16_t>(n);
  }
  std::string_view text(std::size_t size) {
    if (size > bytes_.size()) return complete_ = false, std::string_view{};
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  bool complete() const { return complete_; }

 private:
  std::string_view bytes_;
  bool complete_ = true;
};

void put(std::string& out, std::uint32_t n, unsigned size) {
  while (size-- > 0) out.push_back(static_cast<char>(n >> 8 * size));
}

/// Names are printed, a line each.
bool valid_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '\x7f';
  });
}

}  // namespace

Registry::Registry(std::uint16_t port, std::uint32_t first_creation, bool relaxed)
    : port_(port), creation_(first_creation), relaxed_(relaxed) {}

Answer Registry::answer(std::string_view request, int connection, bool local) {
  if (request.empty()) return {};
  const std::string_view rest = request.substr(1);
  switch (request[0]) {
    case 'x': return local ? alive(rest, connection) : Answer{};
    case 'z': return port_of(rest);
    case 'n': return {names(false)};
    case 'd': return local ? Answer{names(true)} : Answer{};
    case 'k':
      if (!local) return {};
      return nodes_.empty() || relaxed_ ? Answer{"OK", Then::kEnd} : Answer{"NO"};
    case 's': return local && relaxed_ ? stop(rest) : Answer{};
    default: return {};
  }
}

void Registry::closed(int connection) {
  std::erase_if(nodes_, [&](const auto& node) { return node.second.connection == connection; });
}

Answer Registry::alive(std::string_view request, int connection) {
  Reader in(request);
  Node node{connection, 0, 0, 0, 0, 0, {}};
  node.port = in.number(2);
  node.type = static_cast<std::uint8_t>(in.number(1));
  node.protocol = static_cast<std::uint8_t>(in.number(1));
  node.high = in.number(2);
  node.low = in.number(2);
  const std::string_view name = in.text(in.number(2));
  node.extra = in.text(in.number(2));
  if (!in.complete()) return {};
  const bool wide = node.high >= kLongCreationVersion;
  const bool taken = std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& other) {
    return other.first == name || other.second.connection == connection;
  });
  const bool refused = taken || !valid_name(name);
  const std::uint32_t creation = refused ? kRefused : next_creation();
  Answer answer{{wide ? 'v' : 'y', refused ? '\1' : '\0'}, refused ? Then::kClose : Then::kKeepOpen};
  if (wide) put(answer.bytes, creation, 4);
  else put(answer.bytes, refused ? creation : creation % 3 + 1, 2);
  if (!refused) nodes_.emplace(name, std::move(node));
  return answer;
}

Answer Registry::port_of(std::string_view name) const {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return {{'w', '\1'}};
  const Node& node = found->second;
  Answer answer{{'w', '\0'}};
  put(answer.bytes, node.port, 2);
  put(answer.bytes, node.type, 1);
  put(answer.bytes, node.protocol, 1);
  put(answer.bytes, node.high, 2);
  put(answer.bytes, node.low, 2);
  put(answer.bytes, static_cast<std::uint32_t>(name.size()), 2);
  answer.bytes += name;
  put(answer.bytes, static_cast<std::uint32_t>(node.extra.size()), 2);
  answer.bytes += node.extra;
  return answer;
}

std::string Registry::names(bool with_connections) const {
  std::string out;
  put(out, port_, 4);
  for (const auto& [name, node] : nodes_)
    out += with_connections
               ? fmt::format("active name     <{}> at port {}, fd = {}\n", name, node.port, node.connection)
               : fmt::format("name {} at port {}\n", name, node.port);
  return out;
}

Answer Registry::stop(std::string_view name) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return {"NOEXIST"};
  nodes_.erase(found);
  return {"STOPPED"};
}

std::uint32_t Registry::next_creation() {
  creation_ = std::max(creation_ + 1, kLeastCreation);
  return creation_;
}

}  // namespace vmrun::epmd
