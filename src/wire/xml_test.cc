#include "wire/xml.h"

#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <vector>

namespace kyanite::wire {
namespace {

using namespace std::string_literals;

const std::string kHead = "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?>";

std::string joined(const std::vector<Buffer>& pieces) {
  std::string whole;
  for (const auto& piece : pieces) whole += piece.view();
  return whole;
}

TEST(XmlWriter, WritesWhatTheServiceSends) {
  XmlWriter xml;
  xml.open("List").attribute("At", "a<\"'>&b");
  xml.element("Prefix", "")
      .element("Name", "<a & 'b' \"c\">")
      .element("Count", 18446744073709551615u);
  xml.optional("Absent", "").optional("Present", "x");
  xml.open("Empty").close("Empty");
  xml.open("Text").text("one").text("two").close("Text");
  xml.close("List");
  EXPECT_EQ(xml.take(), kHead +
                            "<List At=\"a&lt;&quot;&apos;&gt;&amp;b\"><Prefix />"
                            "<Name>&lt;a &amp; &apos;b&apos; &quot;c&quot;&gt;</Name>"
                            "<Count>18446744073709551615</Count><Present>x</Present><Empty />"
                            "<Text>onetwo</Text></List>");
}

TEST(XmlWriter, AParserReadsBackTheSameText) {
  const std::string texts[] = {"plain",   "a\tb\nc",      "a\rb",  "a\r\nb",
                               "]]>",     "\xe2\x82\xac", "&amp;", "\xf0\x9f\x98\x80",
                               " blanks "};
  for (const auto& text : texts) {
    XmlWriter xml;
    xml.open("Root").element("Name", text).close("Root");
    pugi::xml_document document;
    const std::string written = xml.take();
    ASSERT_TRUE(document.load_buffer(written.data(), written.size())) << text;
    EXPECT_EQ(document.child("Root").child_value("Name"), text);
  }
}

// By every way that text goes in: one bad text must not spoil a document for everybody.
TEST(XmlWriter, ReplacesWhatNoDocumentMayContain) {
  const struct {
    std::string text, expected;
  } rows[] = {
      {"a\x01z", "a\xef\xbf\xbdz"},
      {"\0"s, "\xef\xbf\xbd"},
      {"caf\xe9 & more", "caf\xef\xbf\xbd &amp; more"},
      {"\xff", "\xef\xbf\xbd"},
      {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
      {"sixteen and more \xef\xbf\xbf", "sixteen and more \xef\xbf\xbd"},
      {"\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80"},
  };
  for (const auto& [text, expected] : rows) {
    EXPECT_EQ(XmlWriter::fragment().element("N", text).take(), "<N>" + expected + "</N>");
    EXPECT_EQ(XmlWriter::fragment().element(std::string_view("N"), text).take(),
              "<N>" + expected + "</N>");
    EXPECT_EQ(XmlWriter::fragment().optional("N", text).take(), "<N>" + expected + "</N>");
    EXPECT_EQ(XmlWriter::fragment().open("N").text(text).close("N").take(),
              "<N>" + expected + "</N>");
    EXPECT_EQ(XmlWriter::fragment().open("N").attribute("A", text).close("N").take(),
              "<N A=\"" + expected + "\" />");
  }
}

TEST(XmlCanHold, RefusesWhatNoDocumentMayContain) {
  struct Case {
    std::string text;
    bool holds;
  };
  const Case cases[] = {
      {"", true},
      {"plain", true},
      {"\t\n\r", true},
      {"\0"s, false},
      {"\x01", false},
      {"\x08", false},
      {"\x0b", false},
      {"\x0c", false},
      {"\x1f", false},
      {"\x20", true},
      {"\x7f", true},
      {"\xef\xbf\xbd", true},
      {"\xef\xbf\xbe", false},
      {"a\xef\xbf\xbf", false},
      {"\xef\xbe\xbe", true},
      {"\xee\xbf\xbe", true},
      {"\xef\xbf\xbd\xef\xbf\xbe", false},
      {"\xe2\x82\xac", true},
      {"caf\xe9", false},
      {"\xe2\x82", false},
      {"sixteen and more \xff", false},
  };
  for (const auto& [text, holds] : cases) {
    EXPECT_EQ(xml_can_hold(text), holds) << testing::PrintToString(text);
    EXPECT_FALSE(!holds && xml_is_plain(text)) << testing::PrintToString(text);
  }
}

// Wherever the character stands, in names shorter and longer than what is looked at together.
TEST(XmlIsPlain, WhatIsPlainIsWrittenAsItIs) {
  EXPECT_TRUE(xml_is_plain(""));
  for (size_t length = 1; length < 70; ++length) {
    for (size_t at = 0; at < length; ++at) {
      for (int c = 0; c < 256; ++c) {
        std::string text(length, 'x');
        text[at] = static_cast<char>(c);
        if (!xml_is_plain(text)) continue;
        ASSERT_TRUE(xml_can_hold(text)) << length << " " << at << " " << c;
        if (length > 40) continue;
        ASSERT_EQ(XmlWriter::fragment().element(std::string_view("N"), text).take(),
                  "<N>" + text + "</N>");
      }
    }
  }
  EXPECT_TRUE(xml_is_plain("folder/file-1.txt"));
  EXPECT_FALSE(xml_is_plain("\xc3\xa4"));
}

// The form for tags known beforehand has a limit and looks at 16 characters at a time.
TEST(XmlWriter, ElementsOfEitherFormAreEqual) {
  const std::string_view tag = "Name";
  for (size_t length = 0; length < 200; ++length) {
    for (const char special : {'a', '&', '<', '>', '"', '\'', '\r', '\xc3'}) {
      for (size_t at = 0; at < length; at += 1 + length / 40) {
        std::string text(length, 'x');
        text[at] = special;
        XmlWriter known, unknown;
        known.open("List").element("Name", text).close("List");
        unknown.open("List").element(tag, text).close("List");
        ASSERT_EQ(known.take(), unknown.take()) << length << " " << special << " at " << at;
      }
    }
  }
}

// Long documents are written in pieces; where one ends must not matter.
TEST(XmlWriter, PiecesTogetherAreTheDocument) {
  const std::string longest(700'000, 'x');
  for (size_t first = 3900; first < 4200; ++first) {
    const std::string filler(first, 'f');
    const auto write = [&](XmlWriter& xml) {
      xml.open("List").element("Filler", filler).plain("Date", "today").element("Count", 7u);
      // Copied with all its memory, which must not reach beyond the piece.
      xml.raw("<Short>", ShortText<31>().append("text"), "</Short>");
      xml.element("Name", "a&b").open("Empty").close("Empty").close("List");
    };
    XmlWriter whole, pieces;
    for (XmlWriter* xml : {&whole, &pieces}) write(*xml);
    const std::string expected = kHead + "<List><Filler>" + filler +
                                 "</Filler><Date>today</Date><Count>7</Count><Short>text</Short>"
                                 "<Name>a&amp;b</Name><Empty /></List>";
    ASSERT_EQ(whole.take(), expected);
    ASSERT_EQ(joined(pieces.take_pieces()), expected);
  }
  XmlWriter xml;
  xml.element("Long", longest).plain("Longer", longest);
  const std::string expected =
      kHead + "<Long>" + longest + "</Long><Longer>" + longest + "</Longer>";
  EXPECT_EQ(xml.bytes(), expected.size());
  const auto pieces = xml.take_pieces();
  EXPECT_GT(pieces.size(), 3U);
  EXPECT_EQ(joined(pieces), expected);
}

const auto kSteps = std::to_array<void (*)(XmlWriter&)>({
    [](XmlWriter& xml) { xml.open("List"); },
    [](XmlWriter& xml) { xml.attribute("Name", "a&b"); },
    [](XmlWriter& xml) { xml.open("Empty"); },
    [](XmlWriter& xml) { xml.close("Empty"); },
    [](XmlWriter& xml) { xml.open("Full").plain("Long", std::string(5000, 'x')); },
    [](XmlWriter& xml) { xml.plain("Date", "today"); },
    [](XmlWriter&) {},
    [](XmlWriter& xml) { xml.close("Full").close("List"); },
});
const std::string kStepsWritten = kHead + "<List Name=\"a&amp;b\"><Empty /><Full><Long>" +
                                  std::string(5000, 'x') +
                                  "</Long><Date>today</Date></Full></List>";

// Also where pieces are taken within a start tag: nobody knows yet whether the element is empty.
TEST(XmlWriter, GoesOnAfterPiecesWereTaken) {
  for (size_t ends = 0; ends < size_t{1} << kSteps.size(); ++ends) {
    XmlWriter xml;
    std::string together;
    const auto take = [&] {
      const size_t bytes = xml.bytes();
      const std::string part = xml.take();
      ASSERT_EQ(bytes, part.size());
      together += part;
    };
    for (size_t i = 0; i < kSteps.size(); ++i) {
      kSteps[i](xml);
      if ((ends >> i & 1) != 0) take();
    }
    take();
    ASSERT_EQ(together, kStepsWritten);
  }
}

TEST(XmlWriter, RewindDropsWhatWasWrittenSince) {
  for (size_t from = 0; from < kSteps.size(); ++from) {
    for (const bool taken : {false, true}) {
      XmlWriter xml;
      std::string together;
      for (size_t i = 0; i < from; ++i) kSteps[i](xml);
      if (taken) together = xml.take();
      const auto mark = xml.mark();
      for (int again = 0; again < 3; ++again) {
        xml.rewind(mark);
        xml.plain("Wrong", std::string(static_cast<size_t>(again) * 300'000, 'x')).open("Dropped");
      }
      xml.rewind(mark);
      for (size_t i = from; i < kSteps.size(); ++i) kSteps[i](xml);
      const size_t bytes = xml.bytes();
      const std::string rest = xml.take();
      EXPECT_EQ(bytes, rest.size());
      EXPECT_EQ(together + rest, kStepsWritten) << from;
    }
  }
}

}  // namespace
}  // namespace kyanite::wire
