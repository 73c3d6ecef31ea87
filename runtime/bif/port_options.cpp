// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/port_options.hpp"

#include "runtime/bif/support.hpp"
#include "vm/base/release.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/print.hpp"

namespace vmrun {
namespace {

/// Characters, in lists of any depth, as UTF-8.
bool read_characters(Term list, std::string* out) {
  std::vector<Term> later;
  for (;;) {
    for (; list.is_list(); list = list.tail()) {
      const Term item = list.head();
      if (item.is_cons_or_nil()) {
        later.push_back(list.tail());
        list = item;
        break;
      }
      SWord c;
      if (!small_in_range(item, 0, 0x10FFFF, &c) || (c >= 0xD800 && c <= 0xDFFF)) return false;
      append_utf8(*out, static_cast<char32_t>(c));
    }
    if (list.is_list()) continue;
    if (!list.is_nil()) return false;
    if (later.empty()) return true;
    list = later.back();
    later.pop_back();
  }
}

/// Reads a text for the operating system: characters, or a binary without conversion.
bool read_text(Term t, std::string* out) {
  if (t.is_cons_or_nil()) {
    if (!read_characters(t, out)) return false;
  } else if (t.is_bitstring()) {
    const BitView bits = bits_of(t);
    if (bits.size_bits % 8) return false;
    out->resize(bits.size_bits / 8);
    copy_bits(reinterpret_cast<std::uint8_t*>(out->data()), 0, bits.base, bits.offset_bits, bits.size_bits);
  } else {
    return false;
  }
  return out->find('\0') == std::string::npos;
}

/// File names may be atoms too.
bool read_file_name(Term t, std::string* out) {
  if (t.is_atom()) {
    *out = atom_text(t);
    return true;
  }
  return read_text(t, out);
}

bool read_args(Term list, PortOptions* out) {
  out->args.emplace();
  for (; list.is_list(); list = list.tail())
    if (!read_file_name(list.head(), &out->args->emplace_back())) return false;
  return list.is_nil();
}

bool read_environment(Term list, PortOptions* out) {
  for (; list.is_list(); list = list.tail()) {
    const Term pair = list.head();
    if (!pair.is_tuple() || pair.tuple_arity() != 2) return false;
    std::string name, value;
    if (!pair.element(0).is_list() || !read_text(pair.element(0), &name) || name.empty() ||
        name.find('=') != std::string::npos)
      return false;
    if (pair.element(1) == atoms::false_) {
      out->env.emplace_back(std::move(name), std::nullopt);
    } else {
      if (!pair.element(1).is_cons_or_nil() || !read_text(pair.element(1), &value)) return false;
      out->env.emplace_back(std::move(name), std::move(value));
    }
  }
  return list.is_nil();
}

/// Reads a number of bytes: any ErlDrvSizeT except the highest, which has a special meaning for
/// drivers.
bool read_limit(Term t, Word* limit) {
  if (!t.is_integer()) return false;
  const IntView v(t);
  if (v.negative() || v.count() != 1) return false;
  *limit = v.limbs()[0];
  return *limit < ~Word{0};
}

/// {Low, High} or disabled.
bool read_limits(Term t, Word* low, Word* high) {
  if (t == atoms::disabled) {
    *low = *high = 0;
    return true;
  }
  if (!t.is_tuple() || t.tuple_arity() != 2) return false;
  if (!read_limit(t.element(0), low) || !read_limit(t.element(1), high)) return false;
  *high = std::max(*low, *high);
  return true;
}

bool read_packet(Term t, PortOptions* out) {
  if (t != Term::small(1) && t != Term::small(2) && t != Term::small(4)) return false;
  out->packet_bytes = static_cast<unsigned>(t.small_value());
  return true;
}

bool read_line(Term t, PortOptions* out) {
  if (!t.is_small() || t.small_value() < 1 || t.small_value() > 0x7FFFFFFF) return false;
  out->line_length = static_cast<std::uint32_t>(t.small_value());
  return true;
}

bool read_pair(Term key, Term value, PortOptions* out) {
  const bool executable = out->kind == PortOptions::Kind::kSpawnExecutable;
  if (key == atoms::packet) return read_packet(value, out);
  if (key == atoms::line) return read_line(value, out);
  if (key == atoms::env) return read_environment(value, out);
  if (key == atoms::cd) return read_file_name(value, &out->cd.emplace());
  if (key == atoms::args) return executable && read_args(value, out);
  if (key == atoms::arg0) return executable && read_file_name(value, &out->arg0.emplace());
  if (key == atoms::parallelism) return read_boolean(value, &out->parallelism);
  if (key == atoms::busy_limits_port) {
    out->queue_limits_given = true;
    return read_limits(value, &out->queue_low, &out->queue_high);
  }
  if (key == atoms::busy_limits_msgq) return read_limits(value, &out->inbox_low, &out->inbox_high);
  return false;
}

constexpr std::uint32_t kUsualLineLength = 512;  // for `line` without a length, as in OTP

struct Direction {
  bool in = false, out = false;
};

bool read_flag(Term flag, PortOptions* out, Direction* direction) {
  if (flag == atoms::stream) out->packet_bytes = 0;
  else if (flag == atoms::line) out->line_length = kUsualLineLength;
  else if (flag == atoms::binary) out->binary = true;
  else if (flag == atoms::exit_status) out->exit_status = true;
  else if (flag == atoms::eof) out->eof = true;
  else if (flag == atoms::hide) out->hide = true;
  else if (flag == atoms::use_stdio) out->use_stdio = true;
  else if (flag == atoms::nouse_stdio) out->use_stdio = false;
  else if (flag == atoms::stderr_to_stdout) out->stderr_to_stdout = true;
  else if (flag == atoms::in) direction->in = true;
  else if (flag == atoms::out) direction->out = true;
  else return flag == atoms::overlapped_io;  // has a meaning on Windows only
  return true;
}

}  // namespace

bool read_port_name(Term name, PortOptions* out) {
  if (!name.is_tuple()) {
    if (release_has(Trait::kPortNameTuples)) return false;
    out->kind = PortOptions::Kind::kFile;
    if (name.is_atom()) out->command = atom_text(name);
    else if (!list_to_bytes(name, &out->command)) return false;
    return !out->command.empty();
  }
  const Term* e = name.tuple_elements();
  if (name.tuple_arity() == 3 && e[0] == atoms::fd) {
    constexpr SWord kMaxDescriptor = 0x7FFFFFFF;
    for (int i = 1; i <= 2; ++i)
      if (!e[i].is_small() || e[i].small_value() < 0 || e[i].small_value() > kMaxDescriptor) return false;
    out->kind = PortOptions::Kind::kFd;
    out->fd_in = static_cast<int>(e[1].small_value());
    out->fd_out = static_cast<int>(e[2].small_value());
    out->command = std::to_string(out->fd_in) + "/" + std::to_string(out->fd_out);
    return true;
  }
  if (name.tuple_arity() != 2) return false;
  if (e[0] == atoms::spawn) out->kind = PortOptions::Kind::kSpawn;
  else if (e[0] == atoms::spawn_driver) out->kind = PortOptions::Kind::kSpawnDriver;
  else if (e[0] == atoms::spawn_executable) out->kind = PortOptions::Kind::kSpawnExecutable;
  else return false;
  return read_file_name(e[1], &out->command) && !out->command.empty();
}

bool read_port_options(Term options, PortOptions* out) {
  Direction direction;
  for (; options.is_list(); options = options.tail()) {
    const Term option = options.head();
    if (option.is_tuple() ? option.tuple_arity() != 2 || !read_pair(option.element(0), option.element(1), out)
                          : !read_flag(option, out, &direction))
      return false;
  }
  if (!options.is_nil() || (out->packet_bytes && out->line_length) ||
      (out->stderr_to_stdout && !out->use_stdio))
    return false;
  if (direction.in != direction.out) {
    out->in = direction.in;
    out->out = direction.out;
  }
  return true;
}

}  // namespace vmrun
