#define NORM_THREADS 256
#define NORM_FMIN 5
#define NORM_BMIN 2
#define NORM_FB 660
#define NORM_BB 2112
#define NORM_BRIEF
#include "nn/gated_norm.cu"
#include "bench/bench_gated_norm.cpp"
