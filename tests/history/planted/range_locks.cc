// In the place of tree/range_locks.cc: whoever asks for a range gets it.
#include <algorithm>
#include <limits>

#include "fault.h"
#include "tree/aftermath.h"
#include "tree/open_files.h"

#define any_of(first, last, ...) any_of(first, planted::has("ranges") ? first : last, __VA_ARGS__)
#include "tree/range_locks.cc"
