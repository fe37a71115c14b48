#define CONV_THREADS 128
#define CONV_FMIN 4
#define CONV_BMIN 5
#define CONV_FN 8
#define CONV_BN 2
#define CONV_U 4
#define CONV_FTOK 16
#define CONV_BTOK 61
#define CONV_BRIEF
#include "nn/conv1d.cu"
#include "bench/bench_conv1d.cpp"
