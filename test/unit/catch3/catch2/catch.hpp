// SPDX-License-Identifier: Apache-2.0
// Catch2 3 has its declarations in many headers and its functions in a library. The unit tests
// include what Catch2 2 is: this file, where that is not installed (../../meson.build).
#pragma once

#include <catch2/catch_all.hpp>
