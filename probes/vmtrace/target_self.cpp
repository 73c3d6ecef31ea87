#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "probes/engine/clock.hpp"
#include "probes/vmtrace/target.hpp"

// Neither -p nor -c: the engine runs in vmtrace itself, on a host that has nothing.
namespace vmrun::d {
namespace {

class NothingHost : public Host {
 public:
  const std::vector<ProbeInfo>& probes() const override { return probes_; }
  Shaped shaped_argument(const Firing&, unsigned, char*, std::size_t) override { return {Shape::kNull, 0}; }
  std::ptrdiff_t argument_text(const Firing&, unsigned, char*, std::size_t) override { return -1; }
  std::uint64_t self_key(const Firing&) override { return 0; }
  std::uint64_t builtin_number(unsigned, const Firing&) override { return 0; }
  Shaped builtin_shaped(unsigned, const Firing&, char*, std::size_t) override { return {Shape::kNull, 0}; }
  std::size_t stack(const Firing&, std::uint64_t*, std::size_t) override { return 0; }
  bool argument_term(const Firing&, unsigned, std::uint64_t&) override { return false; }
  bool term_part(unsigned, std::uint64_t, std::int64_t, std::uint64_t&) override { return false; }
  bool term_number(unsigned, std::uint64_t, std::int64_t&) override { return false; }
  std::size_t term_text(std::uint64_t, char*, std::size_t) override { return 0; }
  void enable(std::uint32_t) override {}
  void disable(std::uint32_t) override {}
  void wait_for_firings() override {}
  std::string atom_name(std::uint64_t) override { return ""; }
  std::string address_name(std::uint64_t) override { return ""; }

 private:
  std::vector<ProbeInfo> probes_;
};

class SelfTarget : public Target {
 public:
  const std::vector<ProbeInfo>& probes() const override { return host_.probes(); }
  std::int64_t pid() const override { return getpid(); }

  bool open(const Program& program, std::string& why) override {
    adjust_clock();
    all_.resize(program.aggregations.size());
    std::iota(all_.begin(), all_.end(), 0U);
    session_ = Session::open(program, host_, why);
    return session_ != nullptr;
  }
  bool begin(std::string&) override {
    session_->begin();
    return true;
  }
  std::uint64_t work(std::uint64_t most_ns) override {
    const std::uint64_t due = session_->next_tick();
    if (due == 0) return most_ns;
    std::uint64_t now = timestamp();
    if (due <= now) {
      session_->tick();
      now = timestamp();
    }
    const std::uint64_t next = session_->next_tick();
    return next == 0 ? most_ns : next <= now ? 0 : std::min(most_ns, next - now);
  }
  void end() override { session_->end(); }
  std::vector<Ring*> rings() override { return session_->rings(); }
  std::vector<Element> aggregations() override { return session_->aggregations(all_); }
  std::uint64_t drops(Drop kind) override { return session_->drops(kind); }
  bool exiting(int& status) override { return session_->exiting(status); }
  Names names() override { return {}; }

 private:
  NothingHost host_;
  std::vector<std::uint32_t> all_;
  std::unique_ptr<Session> session_;
};

}  // namespace

std::unique_ptr<Target> make_self_target() { return std::make_unique<SelfTarget>(); }

}  // namespace vmrun::d
