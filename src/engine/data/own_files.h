// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_DATA_OWN_FILES_H_
#define TENON_ENGINE_DATA_OWN_FILES_H_

#include <string>

#include "engine/context.h"
#include "engine/data/machine_files.h"

namespace tenon::engine {

// The files of this machine: copied from one place on its disk to another.
class OwnFiles : public MachineFiles {
 public:
  // `context` must outlive this object.
  explicit OwnFiles(Context& context) : context_(context) {}

  Result<Moved> PutSet(const std::string& shared, const std::string& name,
                       const snapshot::DataScan& data, Reporter& reporter) override;
  Result<DataThere> ListSets(const std::string& shared) override;
  Result<Moved> GetSet(const std::string& shared, const std::string& name, const std::string& to,
                       Reporter& reporter) override;
  Result<RemovedData> RemoveSet(const std::string& shared, const std::string& name) override;
  Result<PathKind> KindOf(const std::string& path) override;
  Result<Moved> CopyInto(const std::string& folder, const snapshot::DataScan& data,
                         Reporter& reporter) override;
  Result<Moved> CopyFrom(const std::string& path, const std::string& target,
                         Reporter& reporter) override;

 private:
  Context& context_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_DATA_OWN_FILES_H_
