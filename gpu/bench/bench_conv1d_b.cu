#define CONV_THREADS 128
#define CONV_FMIN 4
#define CONV_BMIN 4
#define CONV_FN 8
#define CONV_BN 4
#define CONV_U 8
#define CONV_FTOK 32
#define CONV_BTOK 61
#define CONV_BRIEF
#include "nn/conv1d.cu"
#include "bench/bench_conv1d.cpp"
