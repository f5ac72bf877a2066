#include "smb/numbers.h"

#include <gtest/gtest.h>

namespace kyanite::smb {
namespace {

TEST(Numbers, HaveNames) {
  EXPECT_EQ(name(Status::kSharingViolation), "SHARING_VIOLATION");
  EXPECT_EQ(name(static_cast<Status>(0xC0001234)), "0xc0001234");
  EXPECT_EQ(name(Command::kQueryDirectory), "QUERY_DIRECTORY");
  EXPECT_EQ(name(static_cast<Command>(0x13)), "0x13");
  EXPECT_EQ(name(Dialect::kSmb311), "3.1.1");
  EXPECT_EQ(name(FileClass::kAll), "FileAllInformation");
  EXPECT_EQ(name(VolumeClass::kFullSize), "FileFsFullSizeInformation");
  EXPECT_EQ(name(Control::kCopyChunk), "FSCTL_SRV_COPYCHUNK");
}

TEST(Numbers, BitsAreListed) {
  EXPECT_EQ(access_names(access::kReadData | access::kDelete), "READ_DATA|DELETE");
  EXPECT_EQ(access_names(access::kGenericAll | 0x200), "GENERIC_ALL|0x200");
  EXPECT_EQ(access_names(0), "0x0");
  EXPECT_EQ(attribute_names(attribute::kHidden | attribute::kArchive), "HIDDEN|ARCHIVE");
  EXPECT_EQ(create_option_names(create_option::kDeleteOnClose), "DELETE_ON_CLOSE");
}

TEST(Numbers, ControlsAreServedOrRefused) {
  EXPECT_EQ(refusal_of(Control::kSetZeroData), Status::kSuccess);
  EXPECT_EQ(refusal_of(Control::kPipeWait), Status::kObjectNameNotFound);
  EXPECT_EQ(refusal_of(Control::kDfsGetReferrals), Status::kFsDriverRequired);
  EXPECT_EQ(refusal_of(Control::kDuplicateExtents), Status::kInvalidDeviceRequest);
  EXPECT_EQ(refusal_of(static_cast<Control>(0x12345678)), Status::kInvalidDeviceRequest);
}

TEST(Numbers, GenericAccessStandsForWhatItsBitsSay) {
  EXPECT_EQ(kGenericReadMeans, access::kReadData | access::kReadEa | access::kReadAttributes |
                                   access::kReadControl | access::kSynchronize);
  EXPECT_EQ(kGenericWriteMeans, access::kWriteData | access::kAppendData | access::kWriteEa |
                                    access::kWriteAttributes | access::kReadControl |
                                    access::kSynchronize);
  EXPECT_EQ(kGenericExecuteMeans, access::kExecute | access::kReadAttributes |
                                      access::kReadControl | access::kSynchronize);
}

}  // namespace
}  // namespace kyanite::smb
