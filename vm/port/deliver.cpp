// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "vm/base/allocate.hpp"
#include "vm/message/send.hpp"
#include "vm/port/port.hpp"
#include "vm/process/process_table.hpp"
#include "vm/term/atom.hpp"

/// What a port sends to its owner.
namespace vmrun {
namespace {

constexpr Word kTupleWords = 3 + 3 + 3;  // {Port, {data, {eol, D}}}
constexpr Word kHandleWords = sizeof(RefcBinary) / sizeof(Word);

/// Builds a list of the bytes in front of `tail`.
Term bytes_list(Fragment& f, const std::uint8_t* bytes, std::size_t size, Term tail) {
  Term* hp = fragment_alloc(f, 2 * size);
  for (std::size_t i = size; i-- > 0;) tail = make_cons(hp, Term::small(bytes[i]), tail);
  return tail;
}

Term binary_handle(Fragment& f, Binary* binary, std::size_t offset, std::size_t size) {
  auto* handle = reinterpret_cast<RefcBinary*>(fragment_alloc(f, kHandleWords));
  handle->header = Term::header(Term::Sub::kRefcBinary, kHandleWords - 1);
  handle->size_bytes = size;
  handle->binary = binary;
  handle->bytes = binary->data + offset;
  handle->flags = 0;
  handle->next = f.off_heap;
  f.off_heap = reinterpret_cast<OffHeapObject*>(handle);
  return Term::boxed(reinterpret_cast<Term*>(handle));
}

Term heap_binary(Fragment& f, const std::uint8_t* bytes, std::size_t size) {
  auto* b = reinterpret_cast<HeapBinary*>(fragment_alloc(f, 2 + words_for_bytes(size)));
  b->header = Term::header(Term::Sub::kHeapBinary, 1 + words_for_bytes(size));
  b->size_bytes = size;
  if (size & 7) b->data[size & ~std::size_t{7}] = 0;
  std::memcpy(b->data, bytes, size);
  return Term::boxed(reinterpret_cast<Term*>(b));
}

/// A part of a driver's binary. A small one is copied.
Term binary_term(Fragment& f, Binary* binary, std::size_t offset, std::size_t size) {
  if (size <= kHeapBinaryMaxBytes) return heap_binary(f, binary->data + offset, size);
  binary->retain();
  return binary_handle(f, binary, offset, size);
}

/// A binary with a copy of the bytes.
Term new_bytes(Fragment& f, const std::uint8_t* bytes, std::size_t size) {
  if (size <= kHeapBinaryMaxBytes) return heap_binary(f, bytes, size);
  Binary* copy = Binary::create(size);
  if (!copy) out_of_memory("data of a port", size);
  std::memcpy(copy->data, bytes, size);
  return binary_handle(f, copy, 0, size);
}

Word binary_words(std::size_t size) {
  return size <= kHeapBinaryMaxBytes ? 2 + words_for_bytes(size) : kHandleWords;
}

/// Bytes in the form that the port's owner wants, with the header in front. Behind a header, no
/// bytes add no binary.
Term data_term(Port& p, Fragment& f, const std::uint8_t* header, std::size_t header_size,
               const std::uint8_t* bytes, std::size_t size) {
  Term rest = Term::nil();
  if (!p.binary) rest = bytes_list(f, bytes, size, Term::nil());
  else if (size || !header_size) rest = new_bytes(f, bytes, size);
  return bytes_list(f, header, header_size, rest);
}
Word data_words(const Port& p, std::size_t header_size, std::size_t size) {
  return 2 * header_size + (p.binary ? binary_words(size) : 2 * size);
}

void send_data(Port& p, Fragment* f, Term data) {
  Term* hp = fragment_alloc(*f, 6);
  const Term inner = make_tuple(hp, atoms::data, data);
  f->message = make_tuple(hp, p.id, inner);
  deliver_to_owner(p, f);
}

void deliver_line(Port& p, const std::uint8_t* header, std::size_t header_size, const std::uint8_t* line,
                  std::size_t size, bool ended) {
  Fragment* f = new_fragment(kTupleWords + data_words(p, header_size, size));
  const Term data = data_term(p, *f, header, header_size, line, size);
  Term* hp = fragment_alloc(*f, 3);
  send_data(p, f, make_tuple(hp, ended ? atoms::eol : atoms::noeol, data));
}

/// Whether all of a text can belong to one line. A carriage return beyond the limit may be half of
/// a newline.
bool fits_line(const Port& p, const std::uint8_t* text, std::size_t size) {
  return size <= p.line_length || (size == p.line_length + std::size_t{1} && text[size - 1] == '\r');
}

/// Option {line, L}: one message for each line of at most L bytes. Lines end with LF or CR LF.
/// Bytes of an unfinished line wait in line_buffer. A line of full length waits there too, until it
/// is clear whether a newline follows.
void deliver_lines(Port& p, const std::uint8_t* header, std::size_t header_size, const std::uint8_t* bytes,
                   std::size_t size) {
  std::vector<std::uint8_t>& waiting = p.line_buffer;
  while (size) {
    const auto* end = static_cast<const std::uint8_t*>(std::memchr(bytes, '\n', size));
    const std::size_t here = end ? static_cast<std::size_t>(end - bytes) : size;
    const std::uint8_t* text = bytes;
    std::size_t length = here;
    if (!waiting.empty()) {
      waiting.insert(waiting.end(), bytes, bytes + here);
      text = waiting.data();
      length = waiting.size();
    }
    for (; !fits_line(p, text, length); text += p.line_length, length -= p.line_length)
      deliver_line(p, header, header_size, text, p.line_length, false);
    if (end) {
      deliver_line(p, header, header_size, text, length && text[length - 1] == '\r' ? length - 1 : length,
                   true);
      waiting.clear();
      bytes = end + 1;
      size -= here + 1;
    } else if (waiting.empty()) {
      return waiting.assign(text, text + length);
    } else {
      waiting.erase(waiting.begin(), waiting.end() - static_cast<std::ptrdiff_t>(length));
      return;
    }
  }
}

/// header: bytes in front of `bytes`.
void give_to_peer(Port& p, const std::uint8_t* header, std::size_t header_size, const std::uint8_t* bytes,
                  std::size_t size, Binary* binary) {
  if (!header_size) return p.peer->input(p, bytes, size, binary);
  std::vector<std::uint8_t> whole(header, header + header_size);
  whole.insert(whole.end(), bytes, bytes + size);
  p.peer->input(p, whole.data(), whole.size(), nullptr);
}

}  // namespace

namespace {

[[gnu::cold, gnu::noinline]] void deliver_reported(Port& p, Fragment* message) {
  const Term owner = p.owner_now();
  if (process_table.find(owner)) tell_port_send(p.tracing, p.id, owner, message->message);
  send_from_vm(owner, message);
}

}  // namespace

void deliver_to_owner(Port& p, Fragment* message) {
  if (p.tracing.is_on(kTraceSend)) [[unlikely]]
    return deliver_reported(p, message);
  send_from_vm(p.owner_now(), message);
}

void send_news(Port& p, Term to, Term what) {
  Fragment* f = new_fragment(3);
  Term* hp = fragment_alloc(*f, 3);
  f->message = make_tuple(hp, p.id, what);
  // `closed` was reported while the port still existed.
  if (p.tracing.is_on(kTraceSend) && what != atoms::closed) [[unlikely]]
    tell_port_send(p.tracing, p.id, to, f->message, process_table.find(to) != nullptr);
  send_from_vm(to, f);
}

void deliver_news(Port& p, Term what) { send_news(p, p.owner_now(), what); }

void deliver_rest_of_line(Port& p) {
  const std::vector<std::uint8_t>& rest = p.line_buffer;
  if (rest.empty()) return;
  const std::size_t first = std::min<std::size_t>(rest.size(), p.line_length);
  deliver_line(p, nullptr, 0, rest.data(), first, false);
  if (first < rest.size()) deliver_line(p, nullptr, 0, rest.data() + first, rest.size() - first, false);
  p.line_buffer.clear();
}

void deliver_data(Port& p, const std::uint8_t* header, std::size_t header_size, const std::uint8_t* bytes,
                  std::size_t size) {
  p.input_bytes.store(p.input_bytes.load(std::memory_order_relaxed) + header_size + size,
                      std::memory_order_relaxed);
  if (p.peer) return give_to_peer(p, header, header_size, bytes, size, nullptr);
  if (p.line_length) return deliver_lines(p, header, header_size, bytes, size);
  Fragment* f = new_fragment(kTupleWords + data_words(p, header_size, size));
  send_data(p, f, data_term(p, *f, header, header_size, bytes, size));
}

void deliver_binary(Port& p, const std::uint8_t* header, std::size_t header_size, Binary* binary,
                    std::size_t offset, std::size_t size) {
  if (p.peer) {
    p.input_bytes.store(p.input_bytes.load(std::memory_order_relaxed) + header_size + size,
                        std::memory_order_relaxed);
    return give_to_peer(p, header, header_size, binary->data + offset, size, binary);
  }
  if (p.line_length || !p.binary) return deliver_data(p, header, header_size, binary->data + offset, size);
  p.input_bytes.store(p.input_bytes.load(std::memory_order_relaxed) + header_size + size,
                      std::memory_order_relaxed);
  Fragment* f = new_fragment(kTupleWords + 2 * header_size + binary_words(size));
  const Term rest = binary_term(*f, binary, offset, size);
  send_data(p, f, bytes_list(*f, header, header_size, rest));
}

}  // namespace vmrun
