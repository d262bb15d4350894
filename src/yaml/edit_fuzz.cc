// SPDX-License-Identifier: Apache-2.0
// For any document that parses and any of its values: the reverse of an edit restores every byte,
// or is refused.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/check.h"
#include "yaml/edit_property.h"

// As in document_fuzz.cc, leaks in libfyaml are not tested.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto document =
      tenon::yaml::Document::Parse("f", std::string(reinterpret_cast<const char*>(data), size));
  if (!document.ok()) return 0;
  const std::string complaint = tenon::yaml::EditProperty(*document, false, 60).Check();
  if (!complaint.empty()) std::fprintf(stderr, "%s\n", complaint.c_str());
  TENON_CHECK(complaint.empty());
  return 0;
}
