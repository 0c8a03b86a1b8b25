// libnvrtc.so without CUDA: "compiles" a text by building it for the host, with the headers in include/. The "PTX" that it
// gives out is the path of the shared library, which driver.cpp loads.
//
// Texts and libraries stay in $CUDA_EMULATION_DIR, under names that hold the kernel's name, its scalar and a hash of the
// text and the command, so each is built once, whichever process asks first.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string>

namespace {

// As in nvrtc.h.
enum Result { SUCCESS = 0, COMPILATION_ERROR = 6 };

struct Program {
    std::string text, log, library;
};

std::string environment(const char* name, const char* otherwise) {
    const char* value = getenv(name);
    return value ? value : otherwise;
}

// FNV-1a.
uint64_t hash(const std::string& text) {
    uint64_t hash = 0xcbf29ce484222325;
    for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
    return hash;
}

std::string read(const std::string& path) {
    std::string text;
    if (FILE* in = fopen(path.c_str(), "r")) {
        char buffer[4096];
        while (size_t n = fread(buffer, 1, sizeof buffer, in)) text.append(buffer, n);
        fclose(in);
    }
    return text;
}

// Under another name first: others look for the file.
bool write(const std::string& path, const std::string& text) {
    std::string part = path + "." + std::to_string(getpid());
    FILE* out = fopen(part.c_str(), "w");
    if (!out) return false;
    bool whole = fwrite(text.data(), 1, text.size(), out) == text.size();
    return (fclose(out) == 0) && whole && rename(part.c_str(), path.c_str()) == 0;
}

// The name of the one function that a text has for the host to launch.
std::string entry(const std::string& text) {
    size_t global = text.find("__global__");
    size_t begin = text.find("kernel_", global == std::string::npos ? text.size() : global);
    if (begin == std::string::npos) return "";
    return text.substr(begin, text.find_first_of(" (\n", begin) - begin);
}

int fail(Program* program, const std::string& log) {
    program->log = log;
    return COMPILATION_ERROR;
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 0;
    return SUCCESS;
}

int nvrtcCreateProgram(void** program, const char* text, const char*, int, const char**, const char**) {
    *program = new Program{text, "", ""};
    return SUCCESS;
}

int nvrtcCompileProgram(void* program_, int, const char* const*) {
    auto* program = (Program*)program_;
    if (environment("CUDA_EMULATION_FAULT", "") == "compile") return fail(program, "the emulated compiler is told to fail");
    std::string dir = environment("CUDA_EMULATION_DIR", ""), name = entry(program->text);
    if (dir.empty()) return fail(program, "CUDA_EMULATION_DIR is not set; tools/cuda-emulation/run sets it");
    if (name.empty()) return fail(program, "the text has no function `kernel_..`");

    std::string command = environment("CUDA_EMULATION_CXX", "g++ -O0");
    char key[20];
    snprintf(key, sizeof key, "%016lx", (unsigned long)hash(command + "\n" + program->text));
    bool is_double = program->text.find("double") != std::string::npos;
    std::string base = name + "-" + (is_double ? "f64" : "f32") + "-" + key;
    program->library = dir + "/libraries/" + base + ".so";
    if (access(program->library.c_str(), R_OK) == 0) return SUCCESS;

    std::string mine = program->library + "." + std::to_string(getpid());
    std::string launch = "\nextern \"C\" void emulated_grid(void** parameters, const unsigned* grid, const unsigned* block) {\n"
                         "    emulation::run(" + name + ", parameters, grid, block);\n}\n";
    if (!write(dir + "/texts/" + base + ".cu", program->text) || !write(mine + ".cpp", program->text + launch))
        return fail(program, dir + " cannot be written to");
    // Without the library of C++, which no text needs: to link it takes as long as all else.
    std::string line = command + " -shared -nostdlib -o " + mine + " " + mine + ".cpp -lm -lc -lgcc 2>" + mine + ".log";
    if (system(line.c_str()) != 0) return fail(program, line + "\n" + read(mine + ".log"));
    unlink((mine + ".cpp").c_str());
    unlink((mine + ".log").c_str());
    return rename(mine.c_str(), program->library.c_str()) == 0 ? SUCCESS : fail(program, program->library + " cannot be made");
}

int nvrtcGetProgramLogSize(void* program, size_t* size) {
    *size = ((Program*)program)->log.size() + 1;
    return SUCCESS;
}

int nvrtcGetProgramLog(void* program, char* log) {
    strcpy(log, ((Program*)program)->log.c_str());
    return SUCCESS;
}

int nvrtcGetPTXSize(void* program, size_t* size) {
    *size = ((Program*)program)->library.size() + 1;
    return SUCCESS;
}

int nvrtcGetPTX(void* program, char* image) {
    strcpy(image, ((Program*)program)->library.c_str());
    return SUCCESS;
}

// CubeCL never asks for it, and cudarc needs the symbol only then.
int nvrtcDestroyProgram(void** program) {
    delete (Program*)*program;
    return SUCCESS;
}
}
