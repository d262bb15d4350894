// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_ENGINE_DATA_FAR_FILES_H_
#define TENON_ENGINE_DATA_FAR_FILES_H_

#include <string>

#include "engine/context.h"
#include "engine/data/machine_files.h"
#include "engine/host/machine.h"

namespace tenon::engine {

// The files of a machine that is reached over a link to an agent (transport::Host::frames());
// docs/runner.md § serve has the messages.
class FarFiles : public MachineFiles {
 public:
  // Both must outlive this object; `machine` is the machine that has the files.
  FarFiles(Context& context, Machine& machine) : context_(context), machine_(machine) {}

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
  // One try.
  Result<Moved> GetOnce(const std::string& shared, const std::string& name, const std::string& to,
                        Reporter& reporter);

  Context& context_;
  Machine& machine_;
};

}  // namespace tenon::engine

#endif  // TENON_ENGINE_DATA_FAR_FILES_H_
