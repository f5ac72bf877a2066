// In the place of tree/range_locks.cc: whoever asks for a range gets it.
#include <algorithm>

#include "fault.h"
#include "tree/aftermath.h"
#include "tree/open_files.h"

#define conflicts(...) conflicts(__VA_ARGS__) && !planted::has("ranges")
#include "tree/range_locks.cc"
