#define NORM_THREADS 128
#define NORM_FMIN 6
#define NORM_BMIN 4
#define NORM_FB 792
#define NORM_BB 528
#define NORM_BRIEF
#include "nn/gated_norm.cu"
#include "bench/bench_gated_norm.cpp"
