#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/search_settings.h"

namespace outrider::lab {

/// The table of an experiment, or of its rivals, that says what is searched.
inline constexpr std::string_view kSearch = "search";

/// The result of take_search().
struct SearchTaken {
  ConfigTable file;  ///< the experiment without [search]
  SearchSettings settings{};
  bool present = false;
  std::size_t first_arm = 0;                ///< index of the first arm made from [search]
  std::vector<std::string> keys_of_arms{};  ///< "search.family[1]", for each arm from there on
};

/// Rewrites [search] of `file`: every combination of a family's values becomes an arm, so that
/// the other commands can read the file like any experiment.
///
/// A parameter of [[search.family]] may be a value or an array of values. An arm's label is that of
/// its family, followed by its value of each array. In the place of parameters a family may have
/// `arms`, which names arms of the file or of its rivals.
SearchTaken take_search(const ConfigTable& file, ConfigIssues& issues);

/// Gives the experiment its search, once its arms are read. Refuses families that name an arm which
/// it does not have, or one that another family has too.
void use_search(const SearchTaken& search, ExperimentFile& e, ConfigIssues& issues);

/// Renames the keys in `issues` so that faults of the arms made from [search] are reported under
/// the families' keys.
void name_by_search(const SearchTaken& taken, ConfigIssues& issues);

struct SearchFile {
  ExperimentFile experiment;
  SearchSettings settings;
};

/// Reads an experiment with its [search]. @return the file, or every fault by its key; a missing
/// [search] is a fault
ConfigResult<SearchFile> load_search(const std::string& path);

}  // namespace outrider::lab
