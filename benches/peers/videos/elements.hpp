// Elastic forces of tetrahedra in f64: P1 (4 nodes, one quadrature point) and P2 (10 nodes, four points).
//
// Material: psi = mu/2 (tr(F^T F) - 3) - mu ln J + lambda/2 (ln J)^2 with J = det F, hence
// P = dpsi/dF = mu F + (lambda ln J - mu)/J cof F.
//
// A block holds LANES elements in structure-of-arrays form. It gathers its nodes into lanes, computes on vectors of
// LANES doubles, and scatters forces one lane after another, so elements of a block may share nodes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#if defined(__AVX2__) && defined(__x86_64__) && defined(__GLIBC__)
#include <immintrin.h>
extern "C" __m256d _ZGVdN4v_log(__m256d);  // logarithm of four doubles, of glibc's libmvec
#define HAS_VECTOR_LOGARITHM
#endif

namespace videos {

constexpr int LANES = 8;
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));

// What Python hands over; the arrays stay Python's. Same order as `ElementsInput` in simulate.py.
struct ElementsInput {
    int node_count;
    int element_count;
    int nodes_per_element;         // 4 or 10: corners, then midpoints of the edges 01, 12, 02, 03, 13, 23
    const double* rest_positions;  // [node][3], m
    const int* connectivity;       // [element][nodes_per_element]; corners are positively oriented
    const double* mu;              // [element], Pa
    const double* lame_lambda;     // [element], Pa
    const double* mass;            // [node], kg
};

inline void logarithm(const Lanes& value, Lanes& result) {
#ifdef HAS_VECTOR_LOGARITHM
    const double* from = reinterpret_cast<const double*>(&value);
    double* to = reinterpret_cast<double*>(&result);
    for (int lane = 0; lane < LANES; lane += 4) _mm256_storeu_pd(to + lane, _ZGVdN4v_log(_mm256_loadu_pd(from + lane)));
#else
    for (int lane = 0; lane < LANES; lane++) result[lane] = std::log(value[lane]);
#endif
}

// First Piola-Kirchhoff stress, energy density, and J of LANES deformation gradients.
inline void stress(const Lanes F[3][3], const Lanes& mu, const Lanes& lambda, Lanes P[3][3], Lanes& energy, Lanes& J) {
    Lanes cofactor[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            cofactor[i][j] = F[i1][j1] * F[i2][j2] - F[i1][j2] * F[i2][j1];
        }
    J = F[0][0] * cofactor[0][0] + F[0][1] * cofactor[0][1] + F[0][2] * cofactor[0][2];
    Lanes log_J;
    logarithm(J, log_J);
    const Lanes pressure = (lambda * log_J - mu) / J;
    Lanes square = {};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            P[i][j] = mu * F[i][j] + pressure * cofactor[i][j];
            square += F[i][j] * F[i][j];
        }
    energy = 0.5 * mu * (square - 3.0) - mu * log_J + 0.5 * lambda * log_J * log_J;
}

class Elements {
   public:
    double energy = 0;      // of the last call of `forces`, J
    double smallest_J = 0;  // over the quadrature points of that call

    explicit Elements(const ElementsInput& input)
        : node_count_(input.node_count), quadratic_(input.nodes_per_element == 10) {
        blocks_.resize((input.element_count + LANES - 1) / LANES);
        for (std::size_t b = 0; b < blocks_.size(); b++)
            for (int lane = 0; lane < LANES; lane++) fill_lane(input, int(b) * LANES + lane, blocks_[b], lane);
    }

    // Sets `force` [node][3] in N at `positions` [node][3], and `energy` and `smallest_J`.
    void forces(const double* positions, double* force) {
        std::fill(force, force + 3 * node_count_, 0.0);
        energy = 0;
        smallest_J = std::numeric_limits<double>::infinity();
        for (const Block& block : blocks_) {
            if (quadratic_)
                quadratic_forces(block, positions, force);
            else
                linear_forces(block, positions, force);
        }
    }

   private:
    struct Block {
        Lanes gradient[4][3];  // of the corners' barycentric coordinates at rest, 1/m
        Lanes volume;          // at rest, m^3; 0 in lanes that only fill up the last block
        Lanes mu, lambda;
        int nodes[10][LANES];
    };

    int node_count_;
    bool quadratic_;
    std::vector<Block> blocks_;

    static void fill_lane(const ElementsInput& input, int element, Block& block, int lane) {
        const bool padding = element >= input.element_count;
        if (padding) element = input.element_count - 1;
        const int* nodes = input.connectivity + std::size_t(element) * input.nodes_per_element;
        for (int a = 0; a < input.nodes_per_element; a++) block.nodes[a][lane] = nodes[a];

        double edges[3][3];  // column k is the edge from corner 0 to corner k + 1
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++)
                edges[i][k] = input.rest_positions[3 * nodes[k + 1] + i] - input.rest_positions[3 * nodes[0] + i];
        double cofactor[3][3];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
                cofactor[i][k] = edges[i1][k1] * edges[i2][k2] - edges[i1][k2] * edges[i2][k1];
            }
        const double determinant =
            edges[0][0] * cofactor[0][0] + edges[0][1] * cofactor[0][1] + edges[0][2] * cofactor[0][2];
        for (int i = 0; i < 3; i++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) {
                const double component = cofactor[i][k] / determinant;
                block.gradient[k + 1][i][lane] = component;
                sum += component;
            }
            block.gradient[0][i][lane] = -sum;
        }
        block.volume[lane] = padding ? 0 : determinant / 6;
        block.mu[lane] = input.mu[element];
        block.lambda[lane] = input.lame_lambda[element];
    }

    template <int NODES>
    static void gather(const Block& block, const double* positions, Lanes x[NODES][3]) {
        for (int a = 0; a < NODES; a++)
            for (int lane = 0; lane < LANES; lane++)
                for (int i = 0; i < 3; i++) x[a][i][lane] = positions[3 * block.nodes[a][lane] + i];
    }

    template <int NODES>
    static void scatter(const Block& block, const Lanes f[NODES][3], double* force) {
        for (int lane = 0; lane < LANES; lane++)
            for (int a = 0; a < NODES; a++)
                for (int i = 0; i < 3; i++) force[3 * block.nodes[a][lane] + i] += f[a][i][lane];
    }

    // Adds the energy of a quadrature point of each lane, of this weight in m^3.
    void account(const Lanes& weight, const Lanes& density, const Lanes& J) {
        for (int lane = 0; lane < LANES; lane++) {
            energy += weight[lane] * density[lane];
            smallest_J = std::min(smallest_J, J[lane]);
        }
    }

    void linear_forces(const Block& block, const double* positions, double* force) {
        Lanes x[4][3], F[3][3], P[3][3], density, J;
        gather<4>(block, positions, x);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                F[i][j] = (x[1][i] - x[0][i]) * block.gradient[1][j] + (x[2][i] - x[0][i]) * block.gradient[2][j] +
                          (x[3][i] - x[0][i]) * block.gradient[3][j];
        stress(F, block.mu, block.lambda, P, density, J);
        Lanes f[4][3] = {};
        for (int a = 1; a < 4; a++)
            for (int i = 0; i < 3; i++) {
                const Lanes* gradient = block.gradient[a];
                f[a][i] = -block.volume * (P[i][0] * gradient[0] + P[i][1] * gradient[1] + P[i][2] * gradient[2]);
                f[0][i] -= f[a][i];
            }
        account(block.volume, density, J);
        scatter<4>(block, f, force);
    }

    // With barycentric coordinates L, x = sum_k L_k (2 L_k - 1) x_k + sum_edges 4 L_a L_b x_ab.
    void quadratic_forces(const Block& block, const double* positions, double* force) {
        constexpr int EDGES[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};
        constexpr double NEAR = 0.5854101966249685, FAR = 0.1381966011250105;  // (5 + 3 sqrt 5)/20, (5 - sqrt 5)/20
        Lanes x[10][3], f[10][3] = {};
        gather<10>(block, positions, x);
        const Lanes weight = 0.25 * block.volume;
        for (int point = 0; point < 4; point++) {
            double L[4];
            for (int k = 0; k < 4; k++) L[k] = k == point ? NEAR : FAR;
            Lanes derivative[4][3];  // dx/dL_k
            for (int i = 0; i < 3; i++) {
                for (int k = 0; k < 4; k++) derivative[k][i] = (4 * L[k] - 1) * x[k][i];
                for (int e = 0; e < 6; e++) {
                    const int a = EDGES[e][0], b = EDGES[e][1];
                    derivative[a][i] += 4 * L[b] * x[4 + e][i];
                    derivative[b][i] += 4 * L[a] * x[4 + e][i];
                }
            }
            Lanes F[3][3] = {}, P[3][3], density, J;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    for (int k = 0; k < 4; k++) F[i][j] += derivative[k][i] * block.gradient[k][j];
            stress(F, block.mu, block.lambda, P, density, J);
            for (int i = 0; i < 3; i++) {
                Lanes along[4];  // force that acts on dx/dL_k
                for (int k = 0; k < 4; k++) {
                    const Lanes* gradient = block.gradient[k];
                    along[k] = -weight * (P[i][0] * gradient[0] + P[i][1] * gradient[1] + P[i][2] * gradient[2]);
                    f[k][i] += (4 * L[k] - 1) * along[k];
                }
                for (int e = 0; e < 6; e++) {
                    const int a = EDGES[e][0], b = EDGES[e][1];
                    f[4 + e][i] += 4 * L[b] * along[a] + 4 * L[a] * along[b];
                }
            }
            account(weight, density, J);
        }
        scatter<10>(block, f, force);
    }
};

}  // namespace videos
