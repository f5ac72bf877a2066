// The signals that ask the server to stop: SIGINT and SIGTERM.
#pragma once

namespace kyanite::server {

// In the calling thread and all that it starts from here on: they wait to be asked for.
void block_stop_signals();

// From here on the end of the process that started this one asks, too. It may have ended already.
void stop_with_parent(int parent);

// Waits for the next one. Any thread.
int wait_for_stop_signal();

// Whoever is impatient says so again, and the process ends at once. Nothing acknowledged is lost by
// it.
void end_at_next_stop_signal();

}  // namespace kyanite::server
