// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

/// connect_layers.cpp: one of three, as the unit needs it.
void connect_layers();

int main(int argc, char** argv) {
  connect_layers();
  return Catch::Session().run(argc, argv);
}
