// Contact of surface nodes with the floor z = 0.
#pragma once

#include <algorithm>
#include <cmath>

namespace videos {

enum FloorKind { NO_FLOOR = 0, PENALTY_FLOOR = 1, EXACT_FLOOR = 2 };

// Same order as `FloorInput` in simulate.py.
struct FloorInput {
    int kind;             // FloorKind
    double stiffness;     // of the penalty, Pa/m
    double friction;      // Coulomb's coefficient
    const double* areas;  // [node], m^2; 0 inside the bodies
};

// The floor acts on velocities, after the kick. Returns the impulse [N s] that pushes this node up.
//
// Penalty: pressure stiffness * depth on the node's area. Exact (Moreau): the node may not cross z = 0 within the drift
// that follows, so its velocity is raised to -z/dt, inelastically.
inline double floor_normal_impulse(const FloorInput& floor, int node, double mass, double z, double kick, double dt,
                                   double& velocity, double& energy) {
    if (floor.kind == PENALTY_FLOOR) {
        if (z >= 0) return 0;
        const double impulse = -floor.stiffness * floor.areas[node] * z * kick;
        velocity += impulse / mass;
        energy += 0.5 * floor.stiffness * floor.areas[node] * z * z;
        return impulse;
    }
    const double least = -z / dt;
    if (velocity >= least) return 0;
    const double impulse = mass * (least - velocity);
    velocity = least;
    return impulse;
}

// Coulomb friction that stops a slip at most and never reverses it; subtracts what it takes from `impulse`.
inline void floor_friction(double friction, double normal_impulse, double mass, double* velocity, double* impulse) {
    const double speed = std::sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1]);
    if (!(friction > 0) || !(speed > 0)) return;
    const double part = std::min(1.0, friction * normal_impulse / mass / speed);
    for (int i = 0; i < 2; i++) {
        const double change = part * velocity[i];
        velocity[i] -= change;
        impulse[i] -= change * mass;
    }
}

}  // namespace videos
