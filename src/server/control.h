// What commands on this machine may ask a running server for, over a socket in its data directory
// that only its own user and root may connect to: to keep an instant of it (engine/pin.h) for as
// long as the connection lasts. Nothing else is asked, and no paths are given, so that whoever
// could connect could read the directory anyway. docs/decisions/check-and-backup.md
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/pin.h"
#include "os/local_socket.h"

namespace kyanite::server {

class Control {
 public:
  // The engine outlives it.
  static os::Result<std::unique_ptr<Control>> start(engine::Engine& engine,
                                                    const std::string& location);
  // Whoever is connected is left.
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

 private:
  Control(engine::Engine& engine, std::string location, os::LocalSocket listener);
  void loop();
  void answer(os::LocalSocket peer);

  engine::Engine& engine_;
  const std::string location_;
  const os::LocalSocket listener_;
  const int stop_;  // an event
  // Of the one that has something kept.
  std::optional<os::LocalSocket> holder_;
  std::unique_ptr<engine::Pin> pin_;
  std::thread thread_;
};

}  // namespace kyanite::server
