#include "server/account_settings.h"

#include <gtest/gtest.h>

namespace kyanite::server {
namespace {

TEST(AccountSettings, EachIsSetByItsName) {
  AccountSwitches settings;
  EXPECT_TRUE(set_account_setting(settings, "blobVersioning", "true"));
  EXPECT_TRUE(set_account_setting(settings, "blobImmutability", "true"));
  EXPECT_TRUE(set_account_setting(settings, "containerRetentionDays", "365"));
  EXPECT_TRUE(set_account_setting(settings, "shareRetentionDays", "7"));
  EXPECT_TRUE(set_account_setting(settings, "deletionWindowSeconds", "30"));
  EXPECT_TRUE(set_account_setting(settings, "rehydrationSeconds", "0"));
  EXPECT_TRUE(settings.blob_versioning);
  EXPECT_TRUE(settings.blob_immutability);
  EXPECT_EQ(settings.container_retention_days, 365u);
  EXPECT_EQ(settings.share_retention_days, 7u);
  EXPECT_EQ(settings.deletion_window_s, 30u);
  EXPECT_EQ(settings.rehydration_s, 0u);
  EXPECT_EQ(settings.smb.encryption, drive::Encryption::kOffLoopback);
  for (const auto& [text, value] : {std::pair("required", drive::Encryption::kRequired),
                                    {"\"allowed\"", drive::Encryption::kAllowed},
                                    {"off", drive::Encryption::kOff},
                                    {"offLoopback", drive::Encryption::kOffLoopback}}) {
    EXPECT_TRUE(set_account_setting(settings, "smbEncryption", text));
    EXPECT_EQ(settings.smb.encryption, value);
  }
  for (const auto& [text, value] : {std::pair("3.1.1", smb::Dialect::kSmb311),
                                    {"\"3.0.2\"", smb::Dialect::kSmb302},
                                    {"3.0", smb::Dialect::kSmb300},
                                    {"2.1", smb::Dialect::kSmb210}}) {
    EXPECT_TRUE(set_account_setting(settings, "smbLeastDialect", text));
    EXPECT_EQ(settings.smb.least_dialect, value);
  }
  EXPECT_TRUE(set_account_setting(settings, "blobVersioning", "false"));
  EXPECT_FALSE(settings.blob_versioning);
}

TEST(AccountSettings, WrongNamesAndValuesChangeNothing) {
  const struct {
    const char* name;
    const char* value;
  } kWrong[] = {{"blobversioning", "true"},
                {"blobVersioning", "yes"},
                {"blobVersioning", ""},
                {"containerRetentionDays", "366"},
                {"containerRetentionDays", "-1"},
                {"containerRetentionDays", "x"},
                {"deletionWindowSeconds", "3601"},
                {"rehydrationSeconds", "54001"},
                {"smbEncryption", "true"},
                {"smbEncryption", ""},
                {"smbLeastDialect", "2.0.2"},
                {"smbLeastDialect", "2.???"},
                {"smbLeastDialect", "\""}};
  for (const auto& [name, value] : kWrong) {
    AccountSwitches settings;
    EXPECT_FALSE(set_account_setting(settings, name, value)) << name << "=" << value;
    EXPECT_EQ(settings.container_retention_days, 0u);
    EXPECT_FALSE(settings.blob_versioning);
  }
}

}  // namespace
}  // namespace kyanite::server
