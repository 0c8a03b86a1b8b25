// Contact of two bodies: surface nodes of each with the triangles of the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace videos {

// Two bodies that may touch: nodes below `first_node_count` belong to the first. Same order as `PairInput` in
// simulate.py.
struct PairInput {
    int first_node_count;
    int first_triangle_count;
    const int* first_triangles;  // [triangle][3], outward
    int second_triangle_count;   // 0 where there is one body only
    const int* second_triangles;
    double stiffness;  // Pa/m
};

inline double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// Squared distance from p to the triangle a b c, and the closest point's weights (Ericson, Real-Time Collision
// Detection, 5.1.5).
inline double closest_point(const double* p, const double* a, const double* b, const double* c, double* weights) {
    double ab[3], ac[3], ap[3], bp[3], cp[3];
    for (int i = 0; i < 3; i++) {
        ab[i] = b[i] - a[i];
        ac[i] = c[i] - a[i];
        ap[i] = p[i] - a[i];
        bp[i] = p[i] - b[i];
        cp[i] = p[i] - c[i];
    }
    const double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp);
    const double d4 = dot(ac, bp), d5 = dot(ab, cp), d6 = dot(ac, cp);
    const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    const auto set = [weights](double wa, double wb, double wc) {
        weights[0] = wa;
        weights[1] = wb;
        weights[2] = wc;
    };
    if (d1 <= 0 && d2 <= 0) {
        set(1, 0, 0);
    } else if (d3 >= 0 && d4 <= d3) {
        set(0, 1, 0);
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        const double t = d1 / (d1 - d3);
        set(1 - t, t, 0);
    } else if (d6 >= 0 && d5 <= d6) {
        set(0, 0, 1);
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        const double t = d2 / (d2 - d6);
        set(1 - t, 0, t);
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        const double t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        set(0, 1 - t, t);
    } else {
        const double scale = 1 / (va + vb + vc);
        set(1 - vb * scale - vc * scale, vb * scale, vc * scale);
    }
    double squared = 0;
    for (int i = 0; i < 3; i++) {
        const double difference = p[i] - (weights[0] * a[i] + weights[1] * b[i] + weights[2] * c[i]);
        squared += difference * difference;
    }
    return squared;
}

// Unit normal of the triangle a b c.
inline void unit_normal(const double* a, const double* b, const double* c, double* normal) {
    double u[3], v[3];
    for (int i = 0; i < 3; i++) {
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
    }
    for (int i = 0; i < 3; i++) normal[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
    const double length = std::sqrt(dot(normal, normal));
    for (int i = 0; i < 3; i++) normal[i] /= length;
}

// Penalty between the nodes of one body and the surface of another: stiffness * depth on the node's area, towards the
// closest point of the surface, and the opposite force on that triangle's corners. Symmetric contact takes two of
// these.
class NodesOnSurface {
   public:
    // Nodes farther than REACH [m] from all triangles are left out until the next `find_candidates`. Depths above
    // GREATEST_DEPTH [m] exert no force: that deep, the closest triangle may be one of the wrong side.
    static constexpr double REACH = 0.008, GREATEST_DEPTH = 0.007;

    NodesOnSurface(std::vector<int> nodes, int triangle_count, const int* triangles, const double* areas,
                   double stiffness)
        : nodes_(std::move(nodes)), triangle_count_(triangle_count), triangles_(triangles), areas_(areas),
          stiffness_(stiffness) {}

    // Pairs of nodes and triangles whose boxes, widened by REACH, overlap.
    void find_candidates(const double* x) {
        candidates_.clear();
        Box whole;
        for (int k = 0; k < 3 * triangle_count_; k++) whole.include(x + 3 * triangles_[k]);
        for (int node : nodes_) {
            const double* p = x + 3 * node;
            if (!whole.contains(p)) continue;
            Candidate candidate{node, {}};
            for (int k = 0; k < triangle_count_; k++) {
                Box box;
                for (int corner = 0; corner < 3; corner++) box.include(x + 3 * triangles_[3 * k + corner]);
                if (box.contains(p)) candidate.triangles.push_back(k);
            }
            if (!candidate.triangles.empty()) candidates_.push_back(std::move(candidate));
        }
    }

    // Adds to `force` and `deepest`; returns the energy of the penalty, J.
    double forces(const double* x, double* force, double& deepest) const {
        double energy = 0;
        for (const Candidate& candidate : candidates_) {
            const double* p = x + 3 * candidate.node;
            const Closest closest = find_closest(candidate, x);
            const int* corners = triangles_ + 3 * closest.triangle;
            double towards[3];
            for (int i = 0; i < 3; i++) {
                double point = 0;
                for (int j = 0; j < 3; j++) point += closest.weights[j] * x[3 * corners[j] + i];
                towards[i] = point - p[i];
            }
            if (dot(towards, closest.normal) <= 0) continue;  // outside
            const double depth = std::sqrt(closest.squared);
            if (depth > GREATEST_DEPTH || depth < 1e-14) continue;
            deepest = std::max(deepest, depth);
            const double stiffness = stiffness_ * areas_[candidate.node];
            energy += 0.5 * stiffness * closest.squared;
            for (int i = 0; i < 3; i++) {
                const double component = stiffness * towards[i];
                force[3 * candidate.node + i] += component;
                for (int j = 0; j < 3; j++) force[3 * corners[j] + i] -= closest.weights[j] * component;
            }
        }
        return energy;
    }

   private:
    struct Box {
        double low[3] = {1e9, 1e9, 1e9}, high[3] = {-1e9, -1e9, -1e9};
        void include(const double* p) {
            for (int i = 0; i < 3; i++) {
                low[i] = std::min(low[i], p[i]);
                high[i] = std::max(high[i], p[i]);
            }
        }
        bool contains(const double* p) const {
            for (int i = 0; i < 3; i++)
                if (!(p[i] > low[i] - REACH && p[i] < high[i] + REACH)) return false;
            return true;
        }
    };
    struct Candidate {
        int node;
        std::vector<int> triangles;
    };
    struct Closest {
        int triangle = -1;
        double squared = std::numeric_limits<double>::infinity();  // distance, m^2
        double weights[3];
        double normal[3] = {0, 0, 0};  // sum over the triangles at this distance
    };

    std::vector<int> nodes_;
    int triangle_count_;
    const int* triangles_;
    const double* areas_;
    double stiffness_;
    std::vector<Candidate> candidates_;

    // On an edge or a corner several triangles are equally close; one of them alone may see the node on its wrong side,
    // so their normals are added.
    Closest find_closest(const Candidate& candidate, const double* x) const {
        Closest closest;
        for (int triangle : candidate.triangles) {
            const double *a = x + 3 * triangles_[3 * triangle], *b = x + 3 * triangles_[3 * triangle + 1],
                         *c = x + 3 * triangles_[3 * triangle + 2];
            double weights[3], normal[3];
            const double squared = closest_point(x + 3 * candidate.node, a, b, c, weights);
            if (squared >= closest.squared * (1 + 1e-9) + 1e-22) continue;
            unit_normal(a, b, c, normal);
            if (squared < closest.squared * (1 - 1e-9) - 1e-22) {
                closest.triangle = triangle;
                closest.squared = squared;
                std::copy(weights, weights + 3, closest.weights);
                std::fill(closest.normal, closest.normal + 3, 0.0);
            }
            for (int i = 0; i < 3; i++) closest.normal[i] += normal[i];
        }
        return closest;
    }
};

}  // namespace videos
