// What one peer can have of the server, all by name.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "auth/spnego.h"
#include "smb/frame.h"

namespace kyanite::drive {

// The most that a READ, a WRITE or any other request moves. A credit stands for kBytesPerCredit of
// it.
inline constexpr uint32_t kMaxTransferBytes = 8 * 1024 * 1024;
inline constexpr uint32_t kBytesPerCredit = 64 * 1024;

// Frames: before somebody has logged on there is nothing to send but a token.
inline constexpr size_t kMaxUnauthenticatedFrameBytes = auth::kMaxLogonTokenBytes + 1024;
inline constexpr size_t kMaxFrameBytes = kMaxTransferBytes + kBytesPerCredit;
static_assert(kMaxFrameBytes + smb::kTransformBytes <= smb::kMaxFrameBytes);
// What the replies to a chain have together in one frame. Where they have more, further ones
// follow.
inline constexpr size_t kMaxReplyFrameBytes = smb::kMaxFrameBytes - smb::kTransformBytes;

// Of a connection.
inline constexpr uint32_t kMaxCredits = 8192;
inline constexpr size_t kMaxSessions = 256;    // all users of a machine may come by one
inline constexpr size_t kMaxLogons = 8;        // sessions that nobody has authenticated yet
inline constexpr size_t kMaxFailedLogons = 8;  // then the connection ends
inline constexpr size_t kMaxRunning = 512;     // requests that are served or whose reply waits
inline constexpr size_t kMaxRunningOfStrangers = 16;  // the same until somebody has logged on
inline constexpr size_t kMaxWaiting = 512;  // of them, those told to wait (STATUS_PENDING)
inline constexpr size_t kMaxWaitingFrameBytes = 16 * 1024;  // of one that waits for however long
inline constexpr size_t kMaxNotifications = 4096;           // that the peer has not taken yet
inline constexpr size_t kMaxTreesOfConnection = 4096;       // of all its sessions
inline constexpr size_t kMaxReminders = 4;  // of a break that does not arrive at all
// What requests being served and replies on their way may take together, but for one request, which
// is always served.
inline constexpr uint64_t kMaxBytesInMemory = 32 * 1024 * 1024;

// What replies may take of all connections together; of one peer it is a half (base/budget.h).
// Apart from the memory of bodies, so that who reads slowly keeps nobody from writing.
inline constexpr uint64_t kMaxReplyBytesOfAll = 256 * 1024 * 1024;

// Of all connections, of which one account has three quarters and one peer a half at most
// (drive/places.h).
inline constexpr size_t kMaxSessionsOfAll = 64 * 1024;
inline constexpr size_t kMaxTreesOfAll = 256 * 1024;
// Connections whose peer is gone, but whose sessions have further connections. Beyond them such
// sessions end.
inline constexpr size_t kMaxLonelyHomes = 256;

// Of a session.
inline constexpr size_t kMaxChannels = 32;  // at once
inline constexpr size_t kMaxTrees = 1024;
inline constexpr size_t kMaxOpens = 16'384;

// Of a program that may move from machine to machine: all of them are looked at when it opens
// something.
inline constexpr size_t kMaxOpensOfProgram = 256;

// Signing and encrypting more than this is left to the workers.
inline constexpr size_t kInlineCryptoBytes = 64 * 1024;
// So many messages of a frame are served before the loop's other connections have their turn.
inline constexpr size_t kMessagesATurn = 16;
// So many frames are ready to be sent while one is being sent.
inline constexpr size_t kFramesReady = 1;

// A connection on which nobody has logged on by then is closed.
inline constexpr std::chrono::seconds kLogonTime{30};
// A connection that has nothing open and says nothing for so long is closed.
inline constexpr std::chrono::minutes kIdleTime{15};
// What a request may take that does not wait for other clients.
inline constexpr int64_t kRequestSeconds = 60;

}  // namespace kyanite::drive
