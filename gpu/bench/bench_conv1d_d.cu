#define CONV_THREADS 128
#define CONV_FMIN 4
#define CONV_BMIN 3
#define CONV_FN 8
#define CONV_BN 4
#define CONV_U 4
#define CONV_FTOK 64
#define CONV_BTOK 125
#define CONV_BRIEF
#include "nn/conv1d.cu"
#include "bench/bench_conv1d.cpp"
