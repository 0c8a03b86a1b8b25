//! Joints as equations: what keeps two bodies together, and the impulses that do.
//!
//! The impulse of a joint has six parts, a push `p` at the common point and a turn `t`. A ball has no turn, that of a hinge has no part along its axis. It acts on
//! the child, and its opposite on the parent; each of both may be the world, whose number is the number of bodies.

use crate::rigid::impact::spot::Mobility;
use crate::rigid::kernels::Wrench;
use crate::rigid::properties::MassProperties;
use diffkern::prelude::*;

/// Where a joint is on its bodies.
#[diff_struct]
pub struct JointPlace<F> {
    /// The common point in the frame of the parent \[m\].
    pub parent: Vec3<F>,
    /// In that of the child \[m\].
    pub child: Vec3<F>,
    /// The axis in the frame of the parent, of length 1.
    pub parent_axis: Vec3<F>,
    /// In that of the child.
    pub child_axis: Vec3<F>,
}

/// A joint at the beginning of a step, along the axes of the world.
#[diff_struct]
pub struct JointFrame<F> {
    /// From the centre of mass of the parent to the common point \[m\].
    pub parent: Vec3<F>,
    /// From that of the child \[m\].
    pub child: Vec3<F>,
    /// The projection on turns that are held: of a ball on none, of a hinge on those across its axis.
    pub held: Mat3<F>,
}

/// Six numbers of a joint: an impulse \[N s\], \[N m s\], or a gap and a turn \[m\], \[rad\].
#[diff_struct]
pub struct Six<F> {
    /// Of the common point.
    pub linear: Vec3<F>,
    /// Of the turn.
    pub angular: Vec3<F>,
}

/// A matrix of six rows and columns.
#[diff_struct]
pub struct Block<F> {
    /// From linear to linear.
    pub ll: Mat3<F>,
    /// From angular to linear.
    pub la: Mat3<F>,
    /// From linear to angular.
    pub al: Mat3<F>,
    /// From angular to angular.
    pub aa: Mat3<F>,
}

/// `r x` as a matrix.
#[diff_fn]
fn crossing<F: Float>(r: Vec3<F>) -> Mat3<F> {
    let zero = F::new(0.0);
    Mat3::from_cols(Vec3::new(zero, r.z, -r.y), Vec3::new(-r.z, zero, r.x), Vec3::new(r.y, -r.x, zero))
}

#[diff_fn]
fn applied<F: Float>(b: Block<F>, s: Six<F>) -> Six<F> {
    Six { linear: b.ll * s.linear + b.la * s.angular, angular: b.al * s.linear + b.aa * s.angular }
}

#[diff_fn]
fn applied_transposed<F: Float>(b: Block<F>, s: Six<F>) -> Six<F> {
    Six {
        linear: b.ll.transpose() * s.linear + b.al.transpose() * s.angular,
        angular: b.la.transpose() * s.linear + b.aa.transpose() * s.angular,
    }
}

/// Of a symmetric positive block.
#[diff_fn]
fn inverse_of<F: Float>(b: Block<F>) -> Block<F> {
    let first = b.ll.inverse();
    let across = first * b.la;
    let second = (b.aa - b.al * across).inverse();
    let la = across * second * -1.0;
    Block { ll: first + across * second * across.transpose(), la, al: la.transpose(), aa: second }
}

/// What an impulse at the arm `s` of a body does to the velocity at its arm `r`.
#[diff_fn]
fn response<F: Float>(mobility: Mobility<F>, r: Vec3<F>, s: Vec3<F>) -> Block<F> {
    let from: Mat3<F> = crossing(s);
    let to: Mat3<F> = crossing(r);
    let turned = mobility.angular * from;
    Block {
        ll: Mat3::from_diagonal(Vec3::splat(mobility.linear)) - to * turned,
        la: to * mobility.angular * -1.0,
        al: turned,
        aa: mobility.angular,
    }
}

/// Of a body by its number; the world does not move.
#[diff_fn]
fn mobility_of<F: Float>(mobility: &Array<Mobility<F>>, body: u32) -> Mobility<F> {
    let mut result = Mobility { linear: F::new(0.0), angular: Mat3::zero() };
    if (body as usize) < mobility.len() {
        result = mobility[body as usize];
    }
    result
}

/// What the impulse of a joint does to its own gap and turn; turns that are free are kept as they are.
#[diff_fn]
fn own_block<F: Float>(frame: JointFrame<F>, parent: Mobility<F>, child: Mobility<F>) -> Block<F> {
    let a: Block<F> = response(parent, frame.parent, frame.parent);
    let b: Block<F> = response(child, frame.child, frame.child);
    let p = frame.held;
    Block {
        ll: a.ll + b.ll,
        la: (a.la + b.la) * p,
        al: p * (a.al + b.al),
        aa: p * (a.aa + b.aa) * p + Mat3::identity() - p,
    }
}

/// What the impulse of a joint does to the gap and turn of the one before it in the chain, of which the child is its parent.
#[diff_fn]
fn beside<F: Float>(before: JointFrame<F>, frame: JointFrame<F>, shared: Mobility<F>) -> Block<F> {
    let r: Block<F> = response(shared, before.child, frame.parent);
    let p = before.held;
    let q = frame.held;
    Block { ll: r.ll * -1.0, la: r.la * q * -1.0, al: p * r.al * -1.0, aa: p * r.aa * q * -1.0 }
}

/// Puts points and axes together; `ends_j = (parent, child, whether it is a hinge, whether both are exchanged)`.
#[diff_kernel]
pub fn pack_joints<F: Float>(
    parent: &Array<Vec3<F>>,
    child: &Array<Vec3<F>>,
    axes: &Array<Vec3<F>>,
    ends: &Array<u32>,
    places: &mut Array<JointPlace<F>>,
) {
    let j = ABSOLUTE_POS;
    let mut place =
        JointPlace { parent: parent[j], child: child[j], parent_axis: axes[2 * j], child_axis: axes[2 * j + 1] };
    if ends[4 * j + 3] == 1 {
        place =
            JointPlace { parent: child[j], child: parent[j], parent_axis: axes[2 * j + 1], child_axis: axes[2 * j] };
    }
    places[j] = place;
}

/// Joints as their bodies are turned.
#[diff_kernel]
pub fn joint_frames<F: Float>(
    q: &Array<Quat<F>>,
    properties: &Array<MassProperties<F>>,
    ends: &Array<u32>,
    places: &Array<JointPlace<F>>,
    frames: &mut Array<JointFrame<F>>,
) {
    let j = ABSOLUTE_POS;
    let place = places[j];
    let a = ends[4 * j] as usize;
    let b = ends[4 * j + 1] as usize;
    let mut parent = place.parent;
    let mut child = place.child;
    let mut axis = place.parent_axis;
    if a < q.len() {
        parent = q[a].rotate(place.parent - properties[a].centre);
        axis = q[a].rotate(axis);
    }
    if b < q.len() {
        child = q[b].rotate(place.child - properties[b].centre);
    }
    let mut held = Mat3::zero();
    if ends[4 * j + 2] == 1 {
        held = Mat3::identity() - axis.outer(axis);
    }
    frames[j] = JointFrame { parent, child, held };
}

/// Adds the torque `-(viscous + dry / sqrt(w^2 + slip^2)) w` to the child and its opposite to the parent, `w` \[rad/s\] the angular velocity of the child against the parent
/// where it is free: about the axis of a hinge. `viscous` \[N m s/rad\], `dry` \[N m\] and `slip` \[rad/s\] are one for all or one for each joint.
#[diff_kernel]
pub fn joint_friction<F: Float>(
    l: &Array<Vec3<F>>,
    mobility: &Array<Mobility<F>>,
    ends: &Array<u32>,
    frames: &Array<JointFrame<F>>,
    viscous: &Array<F>,
    dry: &Array<F>,
    slip: &Array<F>,
    wrench: &mut Array<Wrench<F>>,
) {
    let j = ABSOLUTE_POS;
    let a = ends[4 * j] as usize;
    let b = ends[4 * j + 1] as usize;
    let mut spin = Vec3::zero();
    if a < l.len() {
        spin = spin - mobility[a].angular * l[a];
    }
    if b < l.len() {
        spin = spin + mobility[b].angular * l[b];
    }
    let free = spin - frames[j].held * spin;
    let slow = slip[j.min(slip.len() - 1)];
    let part = dry[j.min(dry.len() - 1)] / (free.norm_squared() + slow * slow).sqrt();
    let torque = free * (viscous[j.min(viscous.len() - 1)] + part);
    if a < l.len() {
        wrench[a].torque += torque;
    }
    if b < l.len() {
        wrench[b].torque += -torque;
    }
}

/// Of bodies at `x`, `q`: how fast the gap of each joint and its turn have to close to be gone in a step, `rate` \[1/s\] its reciprocal length, with the opposite sign.
#[diff_kernel]
pub fn joint_errors<F: Float>(
    x: &Array<Vec3<F>>,
    q: &Array<Quat<F>>,
    properties: &Array<MassProperties<F>>,
    ends: &Array<u32>,
    places: &Array<JointPlace<F>>,
    frames: &Array<JointFrame<F>>,
    errors: &mut Array<Six<F>>,
    rate: F,
) {
    let j = ABSOLUTE_POS;
    let place = places[j];
    let a = ends[4 * j] as usize;
    let b = ends[4 * j + 1] as usize;
    let mut parent = place.parent;
    let mut child = place.child;
    let mut parent_axis = place.parent_axis;
    let mut child_axis = place.child_axis;
    if a < q.len() {
        parent = x[a] + q[a].rotate(parent - properties[a].centre);
        parent_axis = q[a].rotate(parent_axis);
    }
    if b < q.len() {
        child = x[b] + q[b].rotate(child - properties[b].centre);
        child_axis = q[b].rotate(child_axis);
    }
    let turn = frames[j].held * parent_axis.cross(child_axis);
    errors[j] = Six { linear: (parent - child) * rate, angular: turn * -rate };
}

/// Inverse blocks of the first joints of chains.
#[diff_kernel]
pub fn first_inverse<F: Float>(
    level: &Array<u32>,
    ends: &Array<u32>,
    frames: &Array<JointFrame<F>>,
    mobility: &Array<Mobility<F>>,
    inverse: &mut Array<Block<F>>,
) {
    let i = ABSOLUTE_POS;
    let j = level[i] as usize;
    let parent: Mobility<F> = mobility_of(mobility, ends[4 * j]);
    let child: Mobility<F> = mobility_of(mobility, ends[4 * j + 1]);
    let own: Block<F> = own_block(frames[j], parent, child);
    let result: Block<F> = inverse_of(own);
    inverse[i] = result;
}

/// `(D - E^T S E)^-1` of the next joints, `S` the inverse of those before.
#[diff_kernel]
pub fn next_inverse<F: Float>(
    level: &Array<u32>,
    before: &Array<u32>,
    ends: &Array<u32>,
    frames: &Array<JointFrame<F>>,
    mobility: &Array<Mobility<F>>,
    last: &Array<Block<F>>,
    inverse: &mut Array<Block<F>>,
) {
    let i = ABSOLUTE_POS;
    let j = level[i] as usize;
    let parent: Mobility<F> = mobility_of(mobility, ends[4 * j]);
    let child: Mobility<F> = mobility_of(mobility, ends[4 * j + 1]);
    let own: Block<F> = own_block(frames[j], parent, child);
    let e: Block<F> = beside(frames[before[i] as usize], frames[j], parent);
    let s = last[i];
    let ll = s.ll * e.ll + s.la * e.al;
    let la = s.ll * e.la + s.la * e.aa;
    let al = s.al * e.ll + s.aa * e.al;
    let aa = s.al * e.la + s.aa * e.aa;
    let rest = Block {
        ll: own.ll - e.ll.transpose() * ll - e.al.transpose() * al,
        la: own.la - e.ll.transpose() * la - e.al.transpose() * aa,
        al: own.al - e.la.transpose() * ll - e.aa.transpose() * al,
        aa: own.aa - e.la.transpose() * la - e.aa.transpose() * aa,
    };
    let result: Block<F> = inverse_of(rest);
    inverse[i] = result;
}

/// Right sides of the first joints.
#[diff_kernel]
pub fn first_side<F: Float>(level: &Array<u32>, errors: &Array<Six<F>>, side: &mut Array<Six<F>>) {
    side[ABSOLUTE_POS] = errors[level[ABSOLUTE_POS] as usize];
}

/// `b - E^T S y` of the next joints, `y` the right sides of those before.
#[diff_kernel]
pub fn next_side<F: Float>(
    level: &Array<u32>,
    before: &Array<u32>,
    ends: &Array<u32>,
    frames: &Array<JointFrame<F>>,
    mobility: &Array<Mobility<F>>,
    last: &Array<Block<F>>,
    last_side: &Array<Six<F>>,
    errors: &Array<Six<F>>,
    side: &mut Array<Six<F>>,
) {
    let i = ABSOLUTE_POS;
    let j = level[i] as usize;
    let parent: Mobility<F> = mobility_of(mobility, ends[4 * j]);
    let e: Block<F> = beside(frames[before[i] as usize], frames[j], parent);
    let solved: Six<F> = applied(last[i], last_side[i]);
    let known: Six<F> = applied_transposed(e, solved);
    side[i] = Six { linear: errors[j].linear - known.linear, angular: errors[j].angular - known.angular };
}

/// Impulses of the last joints of the longest chains.
#[diff_kernel]
pub fn last_impulse<F: Float>(inverse: &Array<Block<F>>, side: &Array<Six<F>>, impulse: &mut Array<Six<F>>) {
    let i = ABSOLUTE_POS;
    let result: Six<F> = applied(inverse[i], side[i]);
    impulse[i] = result;
}

/// `S (y - E x)` of joints before others, `x` the impulses of the next ones where the chain goes on.
#[diff_kernel]
pub fn impulse_before<F: Float>(
    level: &Array<u32>,
    after: &Array<u32>,
    ends: &Array<u32>,
    frames: &Array<JointFrame<F>>,
    mobility: &Array<Mobility<F>>,
    inverse: &Array<Block<F>>,
    side: &Array<Six<F>>,
    next: &Array<Six<F>>,
    impulse: &mut Array<Six<F>>,
) {
    let i = ABSOLUTE_POS;
    let j = level[i] as usize;
    let mut y = side[i];
    if i < after.len() {
        let shared: Mobility<F> = mobility_of(mobility, ends[4 * j + 1]);
        let e: Block<F> = beside(frames[j], frames[after[i] as usize], shared);
        let known: Six<F> = applied(e, next[i]);
        y = Six { linear: y.linear - known.linear, angular: y.angular - known.angular };
    }
    let result: Six<F> = applied(inverse[i], y);
    impulse[i] = result;
}

/// Adds impulses to velocities and angular momenta.
#[diff_kernel]
pub fn push_joints<F: Float>(
    level: &Array<u32>,
    ends: &Array<u32>,
    frames: &Array<JointFrame<F>>,
    mobility: &Array<Mobility<F>>,
    impulse: &Array<Six<F>>,
    v: &mut Array<Vec3<F>>,
    l: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let j = level[i] as usize;
    let a = ends[4 * j] as usize;
    let b = ends[4 * j + 1] as usize;
    let frame = frames[j];
    let p = impulse[i].linear;
    let t = frame.held * impulse[i].angular;
    if a < mobility.len() {
        v[a] += p * -mobility[a].linear;
        l[a] += -(frame.parent.cross(p) + t);
    }
    if b < mobility.len() {
        v[b] += p * mobility[b].linear;
        l[b] += frame.child.cross(p) + t;
    }
}

/// Adds what impulses are by time, on the child as it was given, to the reactions of joints.
#[diff_kernel]
pub fn add_reactions<F: Float>(
    level: &Array<u32>,
    ends: &Array<u32>,
    frames: &Array<JointFrame<F>>,
    impulse: &Array<Six<F>>,
    reactions: &mut Array<Wrench<F>>,
    rate: F,
) {
    let i = ABSOLUTE_POS;
    let j = level[i] as usize;
    let mut signed = rate;
    if ends[4 * j + 3] == 1 {
        signed = -rate;
    }
    reactions[j].force += impulse[i].linear * signed;
    reactions[j].torque += frames[j].held * impulse[i].angular * signed;
}
