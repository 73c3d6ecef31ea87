// With -DCONNECT=connect_machine, or connect_runtime, for units that use the machine.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#ifdef CONNECT
namespace vmrun {
void CONNECT();
}
#endif

int main(int argc, char** argv) {
#ifdef CONNECT
  vmrun::CONNECT();
#endif
  return Catch::Session().run(argc, argv);
}
