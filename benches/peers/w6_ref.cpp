// W6 with a hand-written adjoint: explicit linear tetrahedra, in `float` or `double`, OpenMP.
//
// Elements lie in blocks of LANES in structure-of-arrays form. A block gathers its vertices into lanes, does its
// arithmetic on vectors of 64 bytes, and scatters forces into a buffer of its thread. The full case forward on one
// thread takes 188 ms with scalar arithmetic (g++ 12 does not vectorise a plain loop over the lanes), 51 ms with
// vectors, and 32 ms with transposes for gathering and scattering floats, so that is what is kept.
//
// The adjoint of a step needs positions only; F and its inverse are computed again from them. The adjoint of the forces
// is the same loop with dP[dF] in place of P, since that is a symmetric operator.
#include <omp.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace {

template <class Real>
struct Simd {
    typedef Real Vec __attribute__((vector_size(4 * sizeof(Real))));  // x, y, z and nothing
    typedef Real Lanes __attribute__((vector_size(64)));
    static constexpr int LANES = 64 / sizeof(Real);
};

// Three vectors from the rows of an array, one row for each lane.
template <class Real>
inline void gather_lanes(const typename Simd<Real>::Vec* from, const int* rows, typename Simd<Real>::Lanes to[3]) {
    for (int lane = 0; lane < Simd<Real>::LANES; lane++)
        for (int i = 0; i < 3; i++) to[i][lane] = from[rows[lane]][i];
}

// Adds three vectors to the rows of an array, one row for each lane.
template <class Real>
inline void scatter_lanes(const typename Simd<Real>::Lanes from[3], const int* rows, typename Simd<Real>::Vec* to) {
    for (int lane = 0; lane < Simd<Real>::LANES; lane++)
        to[rows[lane]] += typename Simd<Real>::Vec{from[0][lane], from[1][lane], from[2][lane], 0};
}

#ifdef __AVX512F__
// The same for 16 floats: rows are read and written whole, 4x4 transposes turn them into lanes and back.
template <>
inline void gather_lanes<float>(const __m128* from, const int* rows, __m512 to[3]) {
    __m512 r[4];
    for (int k = 0; k < 4; k++) {
        r[k] = _mm512_castps128_ps512(from[rows[k]]);
        r[k] = _mm512_insertf32x4(r[k], from[rows[k + 4]], 1);
        r[k] = _mm512_insertf32x4(r[k], from[rows[k + 8]], 2);
        r[k] = _mm512_insertf32x4(r[k], from[rows[k + 12]], 3);
    }
    const __m512d xy01 = _mm512_castps_pd(_mm512_unpacklo_ps(r[0], r[1]));
    const __m512d xy23 = _mm512_castps_pd(_mm512_unpacklo_ps(r[2], r[3]));
    const __m512d z01 = _mm512_castps_pd(_mm512_unpackhi_ps(r[0], r[1]));
    const __m512d z23 = _mm512_castps_pd(_mm512_unpackhi_ps(r[2], r[3]));
    to[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(xy01, xy23));
    to[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(xy01, xy23));
    to[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(z01, z23));
}

template <>
inline void scatter_lanes<float>(const __m512 from[3], const int* rows, __m128* to) {
    const __m512d xy01 = _mm512_castps_pd(_mm512_unpacklo_ps(from[0], from[1]));
    const __m512d xy23 = _mm512_castps_pd(_mm512_unpackhi_ps(from[0], from[1]));
    const __m512d z01 = _mm512_castps_pd(_mm512_unpacklo_ps(from[2], _mm512_setzero_ps()));
    const __m512d z23 = _mm512_castps_pd(_mm512_unpackhi_ps(from[2], _mm512_setzero_ps()));
    const __m512 r[4] = {
        _mm512_castpd_ps(_mm512_unpacklo_pd(xy01, z01)),
        _mm512_castpd_ps(_mm512_unpackhi_pd(xy01, z01)),
        _mm512_castpd_ps(_mm512_unpacklo_pd(xy23, z23)),
        _mm512_castpd_ps(_mm512_unpackhi_pd(xy23, z23)),
    };
    for (int k = 0; k < 4; k++) {
        to[rows[k]] += _mm512_castps512_ps128(r[k]);
        to[rows[k + 4]] += _mm512_extractf32x4_ps(r[k], 1);
        to[rows[k + 8]] += _mm512_extractf32x4_ps(r[k], 2);
        to[rows[k + 12]] += _mm512_extractf32x4_ps(r[k], 3);
    }
}
#endif

template <class Real>
struct Tets {
    static constexpr int LANES = Simd<Real>::LANES;
    using Vec = typename Simd<Real>::Vec;
    using Lanes = typename Simd<Real>::Lanes;

    struct alignas(64) Block {
        int vertex[4][LANES];
        Lanes dm_inv[9];
        Lanes mu, lam;  // times minus the volume
        Lanes minus_volume;
        Lanes mu_bar, lam_bar;
    };
    // One value for each corner, axis and lane.
    struct alignas(64) Corners {
        Lanes value[4][3];
    };
    struct Thread {
        int first_block, last_block, first_vertex, last_vertex;
        int first_touched, last_touched;  // vertices of its elements
        std::vector<Vec> force;
    };

    int vertices, elements, steps;
    Real dt;
    Vec gravity, target;
    std::vector<Real> free;          // 1 or 0
    std::vector<Real> step_by_mass;  // dt free / mass
    std::vector<Block> blocks;
    std::vector<Thread> threads;
    std::vector<Vec> start_x, start_v, x, v, x_bar, v_bar, force_bar;
    const Vec* last = nullptr;

    Tets(int vertices, int elements, int steps, int thread_count, double dt, double gravity_, const double* x0,
         const int* tets, const double* dm_inv, const double* volume, const double* mass, const double* free_,
         const double* target_)
        : vertices(vertices),
          elements(elements),
          steps(steps),
          dt(dt),
          gravity{0, 0, Real(-gravity_), 0},
          target(row(target_)) {
        free.assign(free_, free_ + vertices);
        for (int p = 0; p < vertices; p++) step_by_mass.push_back(dt * free_[p] / mass[p]);
        start_x.resize(vertices);
        start_v.resize(vertices);
        for (int p = 0; p < vertices; p++) start_x[p] = row(x0 + 3 * p);

        blocks.resize((elements + LANES - 1) / LANES);
        for (size_t i = 0; i < blocks.size() * LANES; i++) {
            // Lanes beyond the last element repeat it, with no volume.
            const int e = std::min<int>(i, elements - 1);
            const int lane = i % LANES;
            Block& block = blocks[i / LANES];
            for (int c = 0; c < 4; c++) block.vertex[c][lane] = tets[4 * e + c];
            for (int c = 0; c < 9; c++) block.dm_inv[c][lane] = dm_inv[9 * e + c];
            block.minus_volume[lane] = int(i) < elements ? -volume[e] : 0;
        }
        for (int t = 0; t < thread_count; t++) {
            Thread thread;
            thread.first_block = long(blocks.size()) * t / thread_count;
            thread.last_block = long(blocks.size()) * (t + 1) / thread_count;
            thread.first_vertex = long(vertices) * t / thread_count;
            thread.last_vertex = long(vertices) * (t + 1) / thread_count;
            thread.first_touched = vertices;
            thread.last_touched = 0;
            for (int b = thread.first_block; b < thread.last_block; b++)
                for (const auto& lanes : blocks[b].vertex)
                    for (int p : lanes) {
                        thread.first_touched = std::min(thread.first_touched, p);
                        thread.last_touched = std::max(thread.last_touched, p + 1);
                    }
            thread.force.assign(vertices, Vec{});
            threads.push_back(std::move(thread));
        }
    }

    static Vec row(const double* from) { return Vec{Real(from[0]), Real(from[1]), Real(from[2]), 0}; }

    void set(const double* v0, const double* material) {
        for (int p = 0; p < vertices; p++) start_v[p] = row(v0 + 3 * p);
        for (size_t i = 0; i < blocks.size() * LANES; i++) {
            const int e = std::min<int>(i, elements - 1);
            Block& block = blocks[i / LANES];
            block.mu[i % LANES] = Real(material[2 * e]) * block.minus_volume[i % LANES];
            block.lam[i % LANES] = Real(material[2 * e + 1]) * block.minus_volume[i % LANES];
        }
    }

    static void gather(const Vec* from, const Block& block, Corners& to) {
        for (int c = 0; c < 4; c++) gather_lanes<Real>(from, block.vertex[c], to.value[c]);
    }

    static void scatter(const Corners& from, const Block& block, Vec* to) {
        for (int c = 0; c < 4; c++) scatter_lanes<Real>(from.value[c], block.vertex[c], to);
    }

    // The differences of corners 1 to 3 to corner 0, times Dm^-1, by rows.
    static inline void gradient(const Corners& at, const Block& block, Lanes f[9]) {
        for (int i = 0; i < 3; i++) {
            const Lanes d0 = at.value[1][i] - at.value[0][i];
            const Lanes d1 = at.value[2][i] - at.value[0][i];
            const Lanes d2 = at.value[3][i] - at.value[0][i];
            for (int j = 0; j < 3; j++)
                f[3 * i + j] = d0 * block.dm_inv[j] + d1 * block.dm_inv[3 + j] + d2 * block.dm_inv[6 + j];
        }
    }

    // F^-T by rows; the determinant is returned.
    static inline Lanes inverse_transposed(const Lanes f[9], Lanes g[9]) {
        g[0] = f[4] * f[8] - f[5] * f[7];
        g[1] = f[5] * f[6] - f[3] * f[8];
        g[2] = f[3] * f[7] - f[4] * f[6];
        g[3] = f[2] * f[7] - f[1] * f[8];
        g[4] = f[0] * f[8] - f[2] * f[6];
        g[5] = f[1] * f[6] - f[0] * f[7];
        g[6] = f[1] * f[5] - f[2] * f[4];
        g[7] = f[2] * f[3] - f[0] * f[5];
        g[8] = f[0] * f[4] - f[1] * f[3];
        const Lanes det = f[0] * g[0] + f[1] * g[1] + f[2] * g[2];
        const Lanes inverse = Real(1) / det;
        for (int i = 0; i < 9; i++) g[i] *= inverse;
        return det;
    }

    static inline Lanes log(const Lanes& of) {
        Lanes result;
#pragma omp simd simdlen(LANES)
        for (int lane = 0; lane < LANES; lane++) result[lane] = std::log(of[lane]);
        return result;
    }

    // P Dm^-T on corners 1 to 3, minus their sum on corner 0; P has minus the volume in it.
    static inline void put(const Lanes p[9], const Block& block, Corners& out) {
        for (int i = 0; i < 3; i++) {
            for (int c = 0; c < 3; c++) {
                const Lanes* column = block.dm_inv + 3 * c;
                out.value[c + 1][i] = p[3 * i] * column[0] + p[3 * i + 1] * column[1] + p[3 * i + 2] * column[2];
            }
            out.value[0][i] = -(out.value[1][i] + out.value[2][i] + out.value[3][i]);
        }
    }

    void add_forces(const Vec* x, Thread& thread) {
        for (int b = thread.first_block; b < thread.last_block; b++) {
            const Block& block = blocks[b];
            Corners at, out;
            Lanes f[9], g[9];
            gather(x, block, at);
            gradient(at, block, f);
            const Lanes det = inverse_transposed(f, g);
            const Lanes along_g = block.lam * log(det) - block.mu;
            for (int i = 0; i < 9; i++) f[i] = block.mu * f[i] + along_g * g[i];
            put(f, block, out);
            scatter(out, block, thread.force.data());
        }
    }

    // `w`: adjoints of forces. Adds the adjoints of positions to the thread's buffer, those of material to the blocks.
    void add_force_adjoints(const Vec* x, const Vec* w, Thread& thread) {
        for (int b = thread.first_block; b < thread.last_block; b++) {
            Block& block = blocks[b];
            Corners at, out;
            Lanes f[9], g[9], a[9], s[9], q[9];
            gather(x, block, at);
            gradient(at, block, f);
            gather(w, block, at);
            gradient(at, block, a);
            const Lanes det = inverse_transposed(f, g);
            const Lanes log_det = log(det);
            // s = F^-1 a
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) s[3 * i + j] = g[i] * a[j] + g[3 + i] * a[3 + j] + g[6 + i] * a[6 + j];
            const Lanes trace = s[0] + s[4] + s[8];
            const Lanes along_g = block.lam * trace, along_gsg = block.mu - block.lam * log_det;
            // F^-T a^T F^-T = g s^T
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    const Lanes gsg = g[3 * i] * s[3 * j] + g[3 * i + 1] * s[3 * j + 1] + g[3 * i + 2] * s[3 * j + 2];
                    q[3 * i + j] = block.mu * a[3 * i + j] + along_gsg * gsg + along_g * g[3 * i + j];
                }
            put(q, block, out);
            Lanes a_f = a[0] * f[0];
            for (int i = 1; i < 9; i++) a_f += a[i] * f[i];
            block.mu_bar += block.minus_volume * (a_f - trace);
            block.lam_bar += block.minus_volume * log_det * trace;
            scatter(out, block, thread.force.data());
        }
    }

    // Uses the sum of all threads' buffers for each of a thread's vertices, and clears them.
    template <class Use>
    void collect(const Thread& mine, Use use) {
        for (int p = mine.first_vertex; p < mine.last_vertex; p++) {
            Vec sum{};
            for (Thread& thread : threads)
                if (p >= thread.first_touched && p < thread.last_touched) {
                    sum += thread.force[p];
                    thread.force[p] = Vec{};
                }
            use(p, sum);
        }
    }

    double run(bool keep) {
        const size_t n = vertices;
        x.resize(std::max(x.size(), n * (keep ? steps + 1 : 2)));
        v.resize(n);
        std::copy(start_x.begin(), start_x.end(), x.begin());
        std::copy(start_v.begin(), start_v.end(), v.begin());
        x_bar.resize(n);
        v_bar.resize(n);
        force_bar.resize(n);
        const auto state = [&](int step) { return x.data() + n * (keep ? step : step & 1); };
        last = state(steps);

#pragma omp parallel num_threads(int(threads.size()))
        {
            Thread& mine = threads[omp_get_thread_num()];
            for (int step = 0; step < steps; step++) {
                const Vec* now = state(step);
                Vec* next = state(step + 1);
                add_forces(now, mine);
#pragma omp barrier
                collect(mine, [&](int p, const Vec& force) {
                    v[p] = free[p] * (v[p] + dt * gravity) + step_by_mass[p] * force;
                    next[p] = now[p] + dt * v[p];
                });
#pragma omp barrier
            }
            if (keep) backward(mine, state);
        }

        double loss = 0;
        for (size_t p = 0; p < n; p++) {
            const Vec d = last[p] - target;
            for (int i = 0; i < 3; i++) loss += double(d[i]) * d[i];
        }
        return loss / n;
    }

    template <class State>
    void backward(Thread& mine, State state) {
        // Adjoints of a step's result become those of its velocity before the forces, and of its forces.
        const auto through_step = [&](int p) {
            const Vec u = v_bar[p] + dt * x_bar[p];
            force_bar[p] = step_by_mass[p] * u;
            v_bar[p] = free[p] * u;
        };
        for (int b = mine.first_block; b < mine.last_block; b++) {
            blocks[b].mu_bar = Lanes{};
            blocks[b].lam_bar = Lanes{};
        }
        for (int p = mine.first_vertex; p < mine.last_vertex; p++) {
            x_bar[p] = Real(2) / vertices * (last[p] - target);
            v_bar[p] = Vec{};
            if (steps > 0) through_step(p);
        }
        for (int step = steps - 1; step >= 0; step--) {
#pragma omp barrier
            add_force_adjoints(state(step), force_bar.data(), mine);
#pragma omp barrier
            collect(mine, [&](int p, const Vec& adjoint) {
                x_bar[p] += adjoint;
                if (step > 0) through_step(p);
            });
        }
    }

    void get(double* x_out, double* v0_bar, double* material_bar) const {
        for (int p = 0; p < vertices; p++) {
            for (int i = 0; i < 3; i++) {
                x_out[3 * p + i] = last[p][i];
                v0_bar[3 * p + i] = v_bar[p][i];
            }
        }
        for (int e = 0; e < elements; e++) {
            material_bar[2 * e] = blocks[e / LANES].mu_bar[e % LANES];
            material_bar[2 * e + 1] = blocks[e / LANES].lam_bar[e % LANES];
        }
    }
};

}  // namespace

#define INTERFACE(REAL, SUFFIX)                                                                                       \
    extern "C" void* tets_new_##SUFFIX(int vertices, int elements, int steps, int threads, double dt, double gravity, \
                                       const double* x0, const int* tets, const double* dm_inv, const double* volume, \
                                       const double* mass, const double* free, const double* target) {                \
        return new Tets<REAL>(vertices, elements, steps, threads, dt, gravity, x0, tets, dm_inv, volume, mass, free,  \
                              target);                                                                                \
    }                                                                                                                 \
    extern "C" void tets_delete_##SUFFIX(void* tets) { delete static_cast<Tets<REAL>*>(tets); }                       \
    extern "C" void tets_set_##SUFFIX(void* tets, const double* v0, const double* material) {                         \
        static_cast<Tets<REAL>*>(tets)->set(v0, material);                                                            \
    }                                                                                                                 \
    extern "C" double tets_run_##SUFFIX(void* tets, int keep) {                                                       \
        return static_cast<Tets<REAL>*>(tets)->run(keep != 0);                                                        \
    }                                                                                                                 \
    extern "C" void tets_get_##SUFFIX(const void* tets, double* x, double* v0_bar, double* material_bar) {            \
        static_cast<const Tets<REAL>*>(tets)->get(x, v0_bar, material_bar);                                           \
    }

INTERFACE(float, f32)
INTERFACE(double, f64)
