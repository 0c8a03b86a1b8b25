// libcuda.so without a GPU: the part of the CUDA driver that CubeCL calls. Device memory is memory of the process, a
// stream is no queue at all, and a launch runs the whole grid before it returns.
//
// A function that is not here stops whoever calls it: cudarc panics on a symbol that it does not find.

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <string>

namespace {

// As in cuda.h.
enum Result { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_IMAGE = 200, NOT_FOUND = 500, LAUNCH_FAILED = 719 };

enum Attribute {
    MAX_THREADS_PER_BLOCK = 1,
    MAX_BLOCK_DIM_X = 2,
    MAX_BLOCK_DIM_Y = 3,
    MAX_BLOCK_DIM_Z = 4,
    MAX_GRID_DIM_X = 5,
    MAX_GRID_DIM_Y = 6,
    MAX_GRID_DIM_Z = 7,
    WARP_SIZE = 10,
    MULTIPROCESSOR_COUNT = 16,
    COMPUTE_CAPABILITY_MAJOR = 75,
    COMPUTE_CAPABILITY_MINOR = 76,
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

// Those of an H200.
const std::map<int, int> ATTRIBUTES = {
    {MAX_THREADS_PER_BLOCK, 1024},   {MAX_BLOCK_DIM_X, 1024},       {MAX_BLOCK_DIM_Y, 1024},
    {MAX_BLOCK_DIM_Z, 64},           {MAX_GRID_DIM_X, 2147483647},  {MAX_GRID_DIM_Y, 65535},
    {MAX_GRID_DIM_Z, 65535},         {WARP_SIZE, 32},               {MULTIPROCESSOR_COUNT, 132},
    {COMPUTE_CAPABILITY_MAJOR, 9},   {COMPUTE_CAPABILITY_MINOR, 0}, {MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
};
const size_t TOTAL_MEMORY = 150754820096;

// Runs all threads of a grid; made by compiler.cpp for each text.
using Grid = void (*)(void** parameters, const unsigned* grid, const unsigned* block);

struct Function {
    Grid run;
    std::string name;
};

struct Counts {
    long launches = 0, threads = 0;
};

std::mutex turn;
std::map<uint64_t, size_t> allocations;
std::map<std::string, Counts> launched;

std::string environment(const char* name) {
    const char* value = getenv(name);
    return value ? value : "";
}

// Writes which kernels ran and how often, at the end of the process.
struct Statistics {
    ~Statistics() {
        std::string path = environment("CUDA_EMULATION_STATS");
        if (path.empty() || launched.empty()) return;
        FILE* out = fopen((path + "." + std::to_string(getpid())).c_str(), "w");
        if (!out) return;
        for (auto& [name, counts] : launched) fprintf(out, "%s %ld %ld\n", name.c_str(), counts.launches, counts.threads);
        fclose(out);
    }
} statistics;

const size_t PAGE = 4096;

size_t pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

// The memory ends before a page that faults, and is NaN in f32 and f64 until it is written. What is larger than a pool's
// usual page is left zero, or it would all be resident.
int allocate(uint64_t* out, size_t bytes) {
    const size_t poisoned_up_to = 64 << 20;
    size_t size = pages(bytes);
    void* memory = mmap(nullptr, size + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return OUT_OF_MEMORY;
    mprotect((char*)memory + size, PAGE, PROT_NONE);
    if (bytes <= poisoned_up_to) memset(memory, 0xFF, bytes);
    *out = (uint64_t)memory;
    std::lock_guard<std::mutex> mine(turn);
    allocations[*out] = size + PAGE;
    return SUCCESS;
}

int release(uint64_t memory) {
    std::lock_guard<std::mutex> mine(turn);
    auto found = allocations.find(memory);
    if (found == allocations.end()) return INVALID_VALUE;
    munmap((void*)memory, found->second);
    allocations.erase(found);
    return SUCCESS;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return SUCCESS; }

int cuDriverGetVersion(int* version) {
    *version = 13000;
    return SUCCESS;
}

int cuDeviceGetCount(int* count) {
    *count = 1;
    return SUCCESS;
}

int cuDeviceGet(int* device, int) {
    *device = 0;
    return SUCCESS;
}

int cuDeviceGetName(char* name, int size, int) {
    snprintf(name, size, "emulated H200");
    return SUCCESS;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
    auto found = ATTRIBUTES.find(attribute);
    if (found == ATTRIBUTES.end()) {
        fprintf(stderr, "cuda-emulation: attribute %d is not known; add it to driver.cpp\n", attribute);
        return INVALID_VALUE;
    }
    *value = found->second;
    return SUCCESS;
}

int cuDeviceTotalMem_v2(size_t* bytes, int) {
    *bytes = TOTAL_MEMORY;
    return SUCCESS;
}

// One context, one answer.
static int token;

int cuDevicePrimaryCtxRetain(void** context, int) {
    *context = &token;
    return SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
int cuCtxSetCurrent(void*) { return SUCCESS; }
int cuCtxSynchronize() { return SUCCESS; }

int cuCtxGetCurrent(void** context) {
    *context = &token;
    return SUCCESS;
}

int cuMemAlloc_v2(uint64_t* memory, size_t bytes) { return allocate(memory, bytes); }
int cuMemAllocAsync(uint64_t* memory, size_t bytes, void*) { return allocate(memory, bytes); }
int cuMemFree_v2(uint64_t memory) { return release(memory); }
int cuMemFreeAsync(uint64_t memory, void*) { return release(memory); }

int cuMemAllocHost_v2(void** memory, size_t bytes) {
    *memory = aligned_alloc(PAGE, pages(bytes));
    return *memory ? SUCCESS : OUT_OF_MEMORY;
}

int cuMemFreeHost(void* memory) {
    free(memory);
    return SUCCESS;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
    memcpy((void*)to, from, bytes);
    return SUCCESS;
}

int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
    memcpy(to, (void*)from, bytes);
    return SUCCESS;
}

// Everything is done as soon as it is asked for, so there is nothing to wait for.
int cuStreamCreate(void** stream, unsigned) {
    *stream = &token;
    return SUCCESS;
}

int cuStreamSynchronize(void*) { return SUCCESS; }
int cuStreamWaitEvent(void*, void*, unsigned) { return SUCCESS; }

int cuEventCreate(void** event, unsigned) {
    *event = &token;
    return SUCCESS;
}

int cuEventRecord(void*, void*) { return SUCCESS; }
int cuEventSynchronize(void*) { return SUCCESS; }
int cuEventDestroy_v2(void*) { return SUCCESS; }

int cuGetErrorName(int error, const char** name) {
    static thread_local std::string text;
    text = "EMULATED_ERROR_" + std::to_string(error);
    *name = text.c_str();
    return SUCCESS;
}

int cuGetErrorString(int error, const char** text) { return cuGetErrorName(error, text); }

// The image is what compiler.cpp gives out as PTX: the path of a shared library.
int cuModuleLoadData(void** module, const void* image) {
    *module = dlopen((const char*)image, RTLD_NOW | RTLD_LOCAL);
    if (*module) return SUCCESS;
    fprintf(stderr, "cuda-emulation: %s\n", dlerror());
    return INVALID_IMAGE;
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
    auto run = (Grid)dlsym(module, "emulated_grid");
    if (!run) return NOT_FOUND;
    *function = new Function{run, name};
    return SUCCESS;
}

int cuFuncSetAttribute(void*, int, int) { return SUCCESS; }

int cuLaunchKernel(void* function_, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned, void*, void** parameters, void**) {
    static const std::string fault = environment("CUDA_EMULATION_FAULT");
    if (fault == "launch") return LAUNCH_FAILED;
    auto* function = (Function*)function_;
    unsigned grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    // The indices of a text's threads are variables of its library.
    std::lock_guard<std::mutex> mine(turn);
    Counts& counts = launched[function->name];
    counts.launches++;
    counts.threads += (long)grid_x * grid_y * grid_z * block_x * block_y * block_z;
    if (fault != "values") function->run(parameters, grid, block);
    return SUCCESS;
}
}
