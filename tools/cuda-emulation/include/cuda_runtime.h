// Lets the CUDA text of a kernel compile as C++ of the host, where its threads run one after the other.
//
// What needs threads to run side by side is not here, so that a text with shared memory, barriers or operations of warps
// does not compile, rather than give other numbers. The same holds for functions that are approximate on a GPU.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <utility>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

namespace emulation {
struct Index {
    unsigned x, y, z;
};
}  // namespace emulation

static emulation::Index threadIdx, blockIdx, blockDim, gridDim;

// Nothing runs beside: plain reads and writes are atomic.
template <class T, class U>
static inline T atomicAdd(T* at, U value) {
    T old = *at;
    *at = old + T(value);
    return old;
}
template <class T, class U>
static inline T atomicExch(T* at, U value) {
    T old = *at;
    *at = T(value);
    return old;
}
template <class T, class U>
static inline T atomicMin(T* at, U value) {
    T old = *at;
    if (T(value) < old) *at = T(value);
    return old;
}
template <class T, class U>
static inline T atomicMax(T* at, U value) {
    T old = *at;
    if (T(value) > old) *at = T(value);
    return old;
}
template <class T, class U, class V>
static inline T atomicCAS(T* at, U compared, V value) {
    T old = *at;
    if (old == T(compared)) *at = T(value);
    return old;
}

// Of reals CUDA's min and max drop a NaN, as C's do.
template <class T>
static inline T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
static inline T max(T a, T b) {
    return a < b ? b : a;
}
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }
static inline float rsqrt(float a) { return 1.0f / sqrtf(a); }
static inline double rsqrt(double a) { return 1.0 / ::sqrt(a); }

static inline float __uint_as_float(unsigned bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline unsigned __float_as_uint(float value) {
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

namespace emulation {

// Parameters come as CUDA's launches take them: one pointer to each.
template <class... A, size_t... I>
static inline void call(void (*kernel)(A...), void** parameters, std::index_sequence<I...>) {
    kernel(*(std::remove_const_t<A>*)parameters[I]...);
}

static inline Index place(uint64_t i, const unsigned* size) {
    return {unsigned(i % size[0]), unsigned(i / size[0] % size[1]), unsigned(i / size[0] / size[1])};
}

// All threads of all blocks, one after the other; the last first where CUDA_EMULATION_ORDER is `backwards`, so that what
// depends on an order that a GPU does not promise shows.
template <class... A>
static void run(void (*kernel)(A...), void** parameters, const unsigned* grid, const unsigned* block) {
    // Not static: what guards that is in the library of C++, which is not linked.
    const char* order = getenv("CUDA_EMULATION_ORDER");
    const bool backwards = order && !strcmp(order, "backwards");
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    uint64_t blocks = uint64_t(grid[0]) * grid[1] * grid[2], threads = uint64_t(block[0]) * block[1] * block[2];
    for (uint64_t b = 0; b < blocks; b++) {
        blockIdx = place(backwards ? blocks - 1 - b : b, grid);
        for (uint64_t t = 0; t < threads; t++) {
            threadIdx = place(backwards ? threads - 1 - t : t, block);
            call(kernel, parameters, std::index_sequence_for<A...>{});
        }
    }
}

}  // namespace emulation
