// What a mutex guards, said so that clang can hold the code against it (-Wthread-safety, a part of
// ./dev check). To other compilers these words are nothing.
#pragma once

#if defined(__clang__)
#define KYANITE_ANNOTATE(attribute) __attribute__((attribute))
#else
#define KYANITE_ANNOTATE(attribute)
#endif

// Of members: only touched while the mutex is held.
#define GUARDED_BY(mutex) KYANITE_ANNOTATE(guarded_by(mutex))
// Of functions: whoever calls them holds the mutex.
#define REQUIRES(...) KYANITE_ANNOTATE(requires_capability(__VA_ARGS__))
// Of functions and types that are themselves the means of locking (base/mutex.h).
#define CAPABILITY(name) KYANITE_ANNOTATE(capability(name))
#define SCOPED_CAPABILITY KYANITE_ANNOTATE(scoped_lockable)
#define ACQUIRE(...) KYANITE_ANNOTATE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) KYANITE_ANNOTATE(release_capability(__VA_ARGS__))
// Of functions that the analysis does not understand. Say why.
#define NO_THREAD_SAFETY_ANALYSIS KYANITE_ANNOTATE(no_thread_safety_analysis)
