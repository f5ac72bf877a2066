#include "queue/parameters.h"

#include <algorithm>
#include <pugixml.hpp>

#include "account/xml_error.h"
#include "base/bytes.h"
#include "service/storage.h"
#include "transfer/body.h"
#include "wire/date.h"

namespace kyanite::queue {

using service::Call;
using wire::Code;

namespace {

constexpr size_t kMaxSmallTextBytes = 8 * 1024;
constexpr int64_t kMaxShortVisibilitySeconds = 2 * 3600;
// Every character of the text may be written as a reference, with some markup around.
constexpr size_t kMaxBodyBytes = 6 * kMaxTextBytes + 4 * 1024;

// A whole number within limits. Absent (or empty): the fallback.
wire::Result<int64_t> decode_number(const Call& call, std::string_view name, int64_t least,
                                    int64_t most, int64_t fallback) {
  const auto text = call.query.find(name);
  if (!text || text->empty()) return fallback;
  const auto number = parse_int(*text);
  if (!number) return wire::invalid_query(name, *text);
  if (*number < least || *number > most) {
    return wire::out_of_range_query(name, *text, std::to_string(least), std::to_string(most));
  }
  return *number;
}

int64_t max_visibility(const Call& call) {
  return call.version >= kLargeMessages ? kMaxVisibilitySeconds : kMaxShortVisibilitySeconds;
}

wire::Error missing_parameter(std::string_view name) {
  return wire::Error(Code::kMissingRequiredQueryParameter).with("QueryParameterName", name);
}

wire::Error too_large(size_t most) {
  return wire::Error(Code::kRequestBodyTooLarge).with("MaxLimit", std::to_string(most));
}

}  // namespace

wire::Result<size_t> decode_message_count(const Call& call) {
  auto count = decode_number(call, "numofmessages", 1, kMaxMessagesPerRequest, 1);
  if (!count) return count.error();
  return static_cast<size_t>(*count);
}

wire::Result<int64_t> decode_get_visibility(const Call& call) {
  return decode_number(call, "visibilitytimeout", 1, max_visibility(call),
                       kDefaultVisibilitySeconds);
}

wire::Result<PutTimes> decode_put_times(const Call& call) {
  const bool any_life = call.version >= kLongLivedMessages;
  const std::string_view asked = call.query.get("messagettl");
  const bool forever = any_life && asked == "-1";
  int64_t life_s = kDefaultTimeToLiveSeconds;
  if (!forever) {
    auto decoded = decode_number(call, "messagettl", 1,
                                 any_life ? INT32_MAX : kDefaultTimeToLiveSeconds, life_s);
    if (!decoded) return decoded.error();
    life_s = *decoded;
  }
  auto visibility = decode_number(call, "visibilitytimeout", 0, max_visibility(call), 0);
  if (!visibility) return visibility.error();
  if (!forever && *visibility >= life_s) {
    return wire::invalid_query("visibilitytimeout", call.query.get("visibilitytimeout"),
                               "messagettl must be greater than visibilitytimeout");
  }
  const Time end = after_seconds(call.now, life_s);
  return PutTimes{*visibility, forever ? kNever : std::min(end, kNever)};
}

wire::Result<std::optional<Ticket>> decode_ticket(const Call& call) {
  const auto text = call.query.find("popreceipt");
  if (!text) return missing_parameter("popreceipt");
  auto receipt = Receipt::parse(*text);
  if (!receipt) return receipt.error();
  const auto id = MessageId::parse(call.target.object);
  if (!*receipt || !id) return std::optional<Ticket>();
  return std::optional<Ticket>(Ticket{*id, **receipt});
}

Task<wire::Error> unknown_ticket(const Call& call, const Messages& messages) {
  const std::string_view text = call.query.get("popreceipt");
  const auto id = MessageId::parse(call.target.object);
  if (id && !Receipt::has_length(text)) {
    auto there = co_await is_near_front(messages, *id);
    if (!there) co_return service::storage_error(there.error());
    if (*there) co_return Receipt::malformed(text);
  }
  co_return wire::Error(Code::kMessageNotFound);
}

wire::Result<int64_t> decode_update_visibility(const Call& call) {
  if (call.query.get("visibilitytimeout").empty()) return missing_parameter("visibilitytimeout");
  return decode_number(call, "visibilitytimeout", 0, max_visibility(call), 0);
}

Task<wire::Result<std::optional<std::string>>> read_message_text(Call& call) {
  const size_t most = call.version >= kLargeMessages ? kMaxTextBytes : kMaxSmallTextBytes;
  auto body = co_await transfer::read_body(call, kMaxBodyBytes);
  if (!body) {
    if (body.error().code == Code::kRequestBodyTooLarge) co_return too_large(most);
    co_return body.error();
  }
  if (body->empty()) co_return std::optional<std::string>();
  if (!wire::xml_can_hold(*body)) {
    // Names the first control character; what takes several bytes is found in the text below.
    const auto unprintable = std::find_if(body->begin(), body->end(), [](char c) {
      return static_cast<uint8_t>(c) < 0x80 && !wire::xml_can_hold(std::string_view(&c, 1));
    });
    if (unprintable != body->end())
      co_return account::invalid_xml(*body, static_cast<size_t>(unprintable - body->begin()));
  }
  pugi::xml_document document;
  const auto parsed = document.load_buffer(
      body->data(), body->size(), pugi::parse_default | pugi::parse_ws_pcdata, pugi::encoding_utf8);
  if (!parsed) co_return account::invalid_xml(*body, static_cast<size_t>(parsed.offset));
  const auto node = document.child("QueueMessage").child("MessageText");
  if (!node) {
    co_return wire::Error(Code::kMissingRequiredXmlNode).with("XmlNodeName", "MessageText");
  }
  std::string text;
  for (const auto& part : node.children()) {
    if (part.type() == pugi::node_pcdata || part.type() == pugi::node_cdata) text += part.value();
  }
  if (!wire::xml_can_hold(text)) {
    co_return account::invalid_xml(*body, static_cast<size_t>(node.offset_debug()));
  }
  if (text.size() > most) co_return too_large(most);
  co_return std::optional<std::string>(std::move(text));
}

std::string write_messages(const std::vector<Standing>& messages, Shown shown) {
  wire::XmlWriter xml;
  xml.open("QueueMessagesList");
  for (const auto& standing : messages) {
    const Message& message = standing.message;
    xml.open("QueueMessage")
        .element("MessageId", standing.place.position.id.text())
        .element("InsertionTime", wire::http_date(message.inserted))
        .element("ExpirationTime", wire::http_date(message.expires));
    if (shown != Shown::kPeeked) {
      xml.element("PopReceipt", standing.receipt().text())
          .element("TimeNextVisible", wire::http_date(standing.place.position.visible));
    }
    if (shown != Shown::kPut) {
      xml.element("DequeueCount", message.dequeue_count).element("MessageText", message.text);
    }
    xml.close("QueueMessage");
  }
  xml.close("QueueMessagesList");
  return xml.take();
}

}  // namespace kyanite::queue
