// Cuts of behaviour in the File service; the names say what begins there.
#pragma once

#include "wire/version.h"

namespace kyanite::file {

inline constexpr wire::Version kSmbProperties{20190202};
inline constexpr wire::Version kFileLeases{20190202};
inline constexpr wire::Version kIdsInLists{20201002};
inline constexpr wire::Version kLastWriteModes{20210608};
inline constexpr wire::Version kShareSnapshotNotFound{20210806};
inline constexpr wire::Version kEncodedNames{20211202};

}  // namespace kyanite::file
