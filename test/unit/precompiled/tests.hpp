#pragma once

// What every unit test reads, read once for all (meson.build).
#include <catch2/catch.hpp>

#include "vm/base/precompiled.hpp"
