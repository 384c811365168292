// How C++ values cross between nodes: everything of the codec in one include.
#pragma once

#include "ham/msg/archive.hpp"          // IWYU pragma: export
#include "ham/msg/codec_aggregate.hpp"  // IWYU pragma: export
#include "ham/msg/codec_basic.hpp"      // IWYU pragma: export
#include "ham/msg/codec_container.hpp"  // IWYU pragma: export
#include "ham/msg/codec_core.hpp"       // IWYU pragma: export
#include "ham/msg/codec_pack.hpp"       // IWYU pragma: export
#include "ham/msg/codec_std.hpp"        // IWYU pragma: export
#include "ham/msg/codec_user.hpp"       // IWYU pragma: export
#include "ham/msg/codec_view.hpp"       // IWYU pragma: export
#include "ham/msg/customise.hpp"        // IWYU pragma: export
#include "ham/msg/layout.hpp"           // IWYU pragma: export
#include "ham/msg/migratable.hpp"       // IWYU pragma: export
#include "ham/msg/wire.hpp"             // IWYU pragma: export
