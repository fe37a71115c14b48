#define NORM_THREADS 256
#define NORM_FMIN 4
#define NORM_BMIN 3
#define NORM_FB 528
#define NORM_BB 396
#define NORM_BRIEF
#include "nn/gated_norm.cu"
#include "bench/bench_gated_norm.cpp"
