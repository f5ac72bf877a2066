#include <algorithm>
#include <map>

#include "base/random.h"
#include "import/target.h"
#include "lifetime/directory.h"
#include "queue/place.h"
#include "queue/records.h"

namespace kyanite::import {

namespace {

class Queues {
 public:
  Queues(Target& target, const Database& database, Chunks& chunks)
      : target_(target), database_(database), chunks_(chunks) {}

  Outcome run() {
    if (auto done = import_properties(target_, database_, "queue"); !done) return done;
    Outcome outcome;
    database_.each("$QUEUES_COLLECTION$", [&](const Document& document) {
      outcome = add_queue(document);
      return outcome.ok();
    });
    if (!outcome) return outcome;
    database_.each("$MESSAGES_COLLECTION$", [&](const Document& document) {
      outcome = add_message(document);
      return outcome.ok();
    });
    return outcome;
  }

 private:
  Outcome add_queue(const Document& document) {
    queue::Queue queue;
    queue.space = lifetime::new_space();
    queue.created = document.object("meta").milliseconds("created");
    queue.metadata = document.object("metadata").texts();
    queue.policies = policies_of<account::StoredPolicy>(document, "queueAcl");
    const std::string account = document.text("accountName");
    const std::string name = document.text("name");
    if (account.empty() || name.empty()) return Failure{std::string("a queue has no name")};
    spaces_[{account, name}] = queue.space;
    store::Commit commit;
    commit.put(store::Key(lifetime::directory_space(account), lifetime::kQueuesFamily, name),
               record_of(queue));
    ++target_.counts.queues;
    return target_.commit(std::move(commit));
  }

  Outcome add_message(const Document& document) {
    const std::string owner = document.text("queueName");
    const auto space = spaces_.find({document.text("accountName"), owner});
    if (space == spaces_.end())
      return Failure{"there is a message in a queue that is missing: " + owner};
    const auto id = queue::MessageId::parse(document.text("messageId"));
    if (!id) return Failure{"a message of the queue " + owner + " has no id"};
    std::string text;
    if (auto read = chunks_.read_all(chunk_of(document), text); !read)
      return Failure{"a message of the queue " + owner + ": " + read.error()};
    queue::Message message;
    message.inserted = document.date("insertionTime");
    message.expires = std::min(document.date("expirationTime"), queue::kNever);
    message.dequeue_count = static_cast<uint64_t>(document.number("dequeueCount").value_or(0));
    message.receipt = random_u64();
    const Time visible = document.milliseconds("timeNextVisible");
    const bool fresh = message.dequeue_count == 0 && visible <= message.inserted;
    const queue::MessagePlace place{fresh ? queue::Lane::kReady : queue::Lane::kHidden,
                                    {visible, *id}};
    store::Commit commit;
    message.text_apart = text.size() > queue::kMaxInlineText;
    if (message.text_apart) {
      commit.put(queue::text_key(space->second, *id),
                 std::make_shared<const store::SharedRecord>(store::Record{text, {}}));
    } else {
      message.text = text;
    }
    commit.put(queue::message_key(space->second, place), record_of(message));
    ++target_.counts.messages;
    return target_.commit(std::move(commit));
  }

  Target& target_;
  const Database& database_;
  Chunks& chunks_;
  std::map<std::pair<std::string, std::string>, store::SpaceId> spaces_;
};

}  // namespace

Outcome import_queues(Target& target, const Database& database, Chunks& chunks) {
  return Queues(target, database, chunks).run();
}

}  // namespace kyanite::import
