// Explicit time stepping (leapfrog) of tetrahedra with lumped masses, and what Python calls of it.
//
// Velocities live half a step after positions: the first kick is half as long. A frame is the state at its first step.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "elements.hpp"
#include "floor.hpp"
#include "pair.hpp"

namespace videos {

// Same order as `ScheduleInput` in simulate.py.
struct ScheduleInput {
    int frame_count;
    int steps_per_frame;
    double time_step;    // s
    double gravity[3];   // m/s^2
};

// State of a frame in one row of doubles. Same order as `STATISTICS` in simulate.py.
struct Statistics {
    double kinetic, elastic, potential, contact;  // energies, J
    double momentum[3];                           // kg m/s
    double centre[3];                             // of mass, m
    double angular_momentum[3];                   // about the centre of mass, kg m^2/s
    double smallest_J;
    double lowest_z;          // m
    double floor_impulse[3];  // since the start, N s
    double deepest_pair;      // greatest depth of one body in another since the start, m
};

class Simulation {
   public:
    Simulation(const ElementsInput& input, const double* velocities, const uint8_t* fixed, const FloorInput& floor,
               const PairInput& pair, const ScheduleInput& schedule)
        : input_(input), floor_(floor), schedule_(schedule), fixed_(fixed), elements_(input),
          x_(input.rest_positions, input.rest_positions + 3 * input.node_count),
          v_(velocities, velocities + 3 * input.node_count), previous_v_(v_.size()), force_(v_.size()) {
        for (int i = 0; i < input.node_count; i++)
            if (floor.areas[i] > 0 && !fixed[i]) surface_nodes_.push_back(i);
        if (pair.second_triangle_count > 0) add_pair(pair);
    }

    // Fills `frames` [frame][node][3] with positions in m. Returns false when the kinetic energy is not finite.
    bool run(double* frames, Statistics* statistics) {
        long step = 0;
        for (int frame = 0; frame < schedule_.frame_count; frame++) {
            const bool last = frame == schedule_.frame_count - 1;
            for (int k = 0; k < (last ? 1 : schedule_.steps_per_frame); k++, step++) {
                const double kick_time = step == 0 ? 0.5 * schedule_.time_step : schedule_.time_step;
                compute_forces(step);
                if (k == 0) {
                    previous_v_ = v_;
                    std::copy(x_.begin(), x_.end(), frames + std::size_t(frame) * x_.size());
                }
                const double impulse_before[3] = {impulse_[0], impulse_[1], impulse_[2]};
                kick(kick_time);
                touch_floor(kick_time);
                if (k == 0) {
                    statistics[frame] = measure(step == 0, impulse_before);
                    if (!(statistics[frame].kinetic < 1e9)) return false;
                }
                for (std::size_t i = 0; i < x_.size(); i++) x_[i] += schedule_.time_step * v_[i];
            }
        }
        return true;
    }

   private:
    static constexpr int STEPS_PER_SEARCH = 20;  // a node moves far less than NodesOnSurface::REACH in these

    const ElementsInput& input_;
    const FloorInput& floor_;
    const ScheduleInput& schedule_;
    const uint8_t* fixed_;
    Elements elements_;
    std::vector<double> x_, v_, previous_v_, force_;
    std::vector<int> surface_nodes_;
    std::vector<NodesOnSurface> pair_contacts_;
    double contact_energy_ = 0, deepest_pair_ = 0;
    double impulse_[3] = {0, 0, 0};

    void add_pair(const PairInput& pair) {
        std::vector<int> first, second;
        for (int i : surface_nodes_) (i < pair.first_node_count ? first : second).push_back(i);
        pair_contacts_.emplace_back(std::move(first), pair.second_triangle_count, pair.second_triangles, floor_.areas,
                                    pair.stiffness);
        pair_contacts_.emplace_back(std::move(second), pair.first_triangle_count, pair.first_triangles, floor_.areas,
                                    pair.stiffness);
    }

    void compute_forces(long step) {
        elements_.forces(x_.data(), force_.data());
        contact_energy_ = 0;
        for (NodesOnSurface& contact : pair_contacts_)
            if (step % STEPS_PER_SEARCH == 0) contact.find_candidates(x_.data());
        for (NodesOnSurface& contact : pair_contacts_)
            contact_energy_ += contact.forces(x_.data(), force_.data(), deepest_pair_);
    }

    void kick(double kick_time) {
        for (int i = 0; i < input_.node_count; i++)
            for (int c = 0; c < 3; c++) {
                double& v = v_[3 * i + c];
                const double gained = kick_time / input_.mass[i] * force_[3 * i + c] + kick_time * schedule_.gravity[c];
                v = fixed_[i] ? 0 : v + gained;
            }
    }

    void touch_floor(double kick_time) {
        if (floor_.kind == NO_FLOOR) return;
        for (int i : surface_nodes_) {
            const double mass = input_.mass[i];
            const double normal = floor_normal_impulse(floor_, i, mass, x_[3 * i + 2], kick_time, schedule_.time_step,
                                                       v_[3 * i + 2], contact_energy_);
            if (normal <= 0) continue;
            impulse_[2] += normal;
            floor_friction(floor_.friction, normal, mass, &v_[3 * i], impulse_);
        }
    }

    // At the time of the positions: velocity and impulse are the means of half a step before and after.
    Statistics measure(bool at_start, const double impulse_before[3]) const {
        Statistics s = {};
        const auto velocity = [&](int i, double* v) {
            for (int c = 0; c < 3; c++) {
                const double before = previous_v_[3 * i + c];
                v[c] = fixed_[i] ? 0 : at_start ? before : 0.5 * (before + v_[3 * i + c]);
            }
        };
        double total_mass = 0, v[3], r[3];
        s.lowest_z = std::numeric_limits<double>::infinity();
        for (int i = 0; i < input_.node_count; i++) {
            const double mass = input_.mass[i], *x = &x_[3 * i];
            velocity(i, v);
            total_mass += mass;
            s.kinetic += 0.5 * mass * dot(v, v);
            s.potential -= mass * dot(schedule_.gravity, x);
            s.lowest_z = std::min(s.lowest_z, x[2]);
            for (int c = 0; c < 3; c++) {
                s.momentum[c] += mass * v[c];
                s.centre[c] += mass * x[c];
            }
        }
        for (int c = 0; c < 3; c++) s.centre[c] /= total_mass;
        for (int i = 0; i < input_.node_count; i++) {
            velocity(i, v);
            for (int c = 0; c < 3; c++) r[c] = x_[3 * i + c] - s.centre[c];
            for (int c = 0; c < 3; c++) {
                const int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
                s.angular_momentum[c] += input_.mass[i] * (r[c1] * v[c2] - r[c2] * v[c1]);
            }
        }
        for (int c = 0; c < 3; c++)
            s.floor_impulse[c] = at_start ? impulse_before[c] : 0.5 * (impulse_before[c] + impulse_[c]);
        s.elastic = elements_.energy;
        s.contact = contact_energy_;
        s.smallest_J = elements_.smallest_J;
        s.deepest_pair = deepest_pair_;
        return s;
    }
};

// Highest angular frequency [rad/s] of the elements at rest by power iteration on M^-1 K; K u is a difference of
// forces.
double highest_frequency(const ElementsInput& input, int iterations) {
    const int size = 3 * input.node_count;
    Elements elements(input);
    std::vector<double> u(size), x(size), image(size);
    uint64_t state = 88172645463325252ull;  // xorshift
    for (double& component : u) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        component = double(state >> 11) / 9007199254740992.0 - 0.5;
    }
    double squared = 0;
    for (int k = 0; k < iterations; k++) {
        double largest = 0;
        for (double component : u) largest = std::max(largest, std::fabs(component));
        const double amplitude = 1e-9 / largest;  // m
        for (int i = 0; i < size; i++) x[i] = input.rest_positions[i] + amplitude * u[i];
        elements.forces(x.data(), image.data());
        double numerator = 0, denominator = 0;
        for (int i = 0; i < size; i++) {
            const double mass = input.mass[i / 3];
            image[i] *= -1 / (mass * amplitude);
            numerator += image[i] * u[i] * mass;
            denominator += u[i] * u[i] * mass;
        }
        squared = numerator / denominator;
        for (int i = 0; i < size; i++) u[i] = image[i] / squared;
    }
    return std::sqrt(squared);
}

}  // namespace videos

extern "C" {

double highest_frequency(const videos::ElementsInput* elements, int iterations) {
    return videos::highest_frequency(*elements, iterations);
}

int simulate(const videos::ElementsInput* elements, const double* velocities, const uint8_t* fixed,
             const videos::FloorInput* floor, const videos::PairInput* pair, const videos::ScheduleInput* schedule,
             double* frames, videos::Statistics* statistics) {
    return videos::Simulation(*elements, velocities, fixed, *floor, *pair, *schedule).run(frames, statistics);
}
}
