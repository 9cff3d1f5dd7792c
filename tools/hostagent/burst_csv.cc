#include "tools/hostagent/burst_csv.h"

#include <cerrno>
#include <cstring>

#include "common/telemetry/whole_file.h"
#include "tools/hostagent/agent_error.h"

namespace outrider::agent {

BurstCsv::BurstCsv(const std::string& path, std::uint64_t max_rows)
    : path_(path), partial_(path + ".partial"), claim_(partial_), max_rows_(max_rows) {
  if (!claim_.problem().empty()) throw AgentError(claim_.problem());
  out_.open(partial_);
  if (!out_) throw AgentError(partial_ + ": cannot be written: " + std::strerror(errno));
  out_ << "flow,direction,begun_ns,ended_ns,bytes,gap_ns\n";
}

void BurstCsv::add(const RecordedBurst& burst) {
  if (rows_ == max_rows_) {
    ++left_out_;
    return;
  }
  if (rows_++ == 0) origin_ = burst.begun;
  out_ << burst.flow << ',' << (burst.pull ? "pull" : "push") << ','
       << (burst.begun - origin_).count() << ',' << (burst.ended - origin_).count() << ','
       << burst.bytes << ',';
  if (const auto last = ended_.find(burst.flow); last != ended_.end())
    out_ << (burst.begun - last->second).count();
  out_ << '\n';
  if (!out_ && error_ == 0) error_ = errno;
  ended_[burst.flow] = burst.ended;
}

void BurstCsv::forget(std::size_t flow) { ended_.erase(flow); }

void BurstCsv::close() {
  out_.close();
  if (!out_ && error_ == 0) error_ = errno;
  if (error_ == 0) error_ = publish_file(partial_, path_);
  if (error_ == 0) return;
  throw AgentError(path_ + ": cannot be written: " + std::strerror(error_) + " (errno " +
                   std::to_string(error_) + "); what fitted is in " + partial_);
}

}  // namespace outrider::agent
