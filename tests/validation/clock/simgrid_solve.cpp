// How long SimGrid takes to build and to solve a max-min problem, in processor time, and the rates it finds.
//
// Reads from stdin: numbers of activities, resources and entries (int64), then the incidence row by row: ptr (int64),
// resource (int64), usage, capacity, weight, demand (double, infinite where there is none).
// Writes a line with the seconds of building and of solving, then one rate a line.
//
// Needs SimGrid's library and, for the header of its solver, which packages leave out, its sources:
//   touch SOURCES/src/internal_config.h
//   g++ -O3 -std=c++17 -I SOURCES -I SOURCES/include simgrid_solve.cpp -lsimgrid -o simgrid_solve
#include "src/kernel/lmm/maxmin.hpp"
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

template <class T> static std::vector<T> read(size_t count)
{
  std::vector<T> found(count);
  if (fread(found.data(), sizeof(T), count, stdin) != count) {
    fprintf(stderr, "the problem ends too soon\n");
    exit(2);
  }
  return found;
}

static double now()
{
  return static_cast<double>(clock()) / CLOCKS_PER_SEC;
}

int main()
{
  namespace lmm = simgrid::kernel::lmm;
  auto sizes    = read<int64_t>(3);
  auto ptr      = read<int64_t>(sizes[0] + 1);
  auto resource = read<int64_t>(sizes[2]);
  auto usage    = read<double>(sizes[2]);
  auto capacity = read<double>(sizes[1]);
  auto weight   = read<double>(sizes[0]);
  auto demand   = read<double>(sizes[0]);

  double begin = now();
  lmm::MaxMin system(false);
  std::vector<lmm::Constraint*> links(sizes[1], nullptr);
  std::vector<lmm::Variable*> flows;
  flows.reserve(sizes[0]);
  for (int64_t i = 0; i < sizes[0]; i++) {
    size_t many  = ptr[i + 1] - ptr[i];
    double bound = std::isinf(demand[i]) ? -1.0 : demand[i];
    flows.push_back(system.variable_new(nullptr, 1.0 / weight[i], bound, many));
    for (int64_t k = ptr[i]; k < ptr[i + 1]; k++) {
      auto& link = links[resource[k]];
      if (link == nullptr)
        link = system.constraint_new(nullptr, capacity[resource[k]]);
      system.expand(link, flows.back(), usage[k]);
    }
  }
  double built = now();
  system.solve();
  double solved = now();
  printf("%.6f %.6f\n", built - begin, solved - built);
  for (auto* flow : flows)
    printf("%.12g\n", flow->get_value());
  fflush(stdout);
  _Exit(0); // taking it down is not measured
}
