//! Conversion of bodies, colliders, cameras and lights.

use super::Conversion;
use super::turn::{UPRIGHT, after};
use crate::scene::document::{
    At, Axis, Body, BodyShape, BoxShape, Camera, Capsule, CentreOfMass, Clamp, Collider, ColliderShape, Cylinder,
    Depth, Document, Ellipsoid, Force, HalfSpace, Impulse, Light, Load, Markers, Material, MeshFile, Motion,
    Observation, Pose, Push, Relaxation, Side, Sphere, Start, Take, Torus, Up, Video,
};
use crate::scene::measure::Measure;
use Measure::{Angle, AngularVelocity, Density, Length, Mass, Pressure, Rate, Time, Velocity, Viscosity};

/// How a shape lies in the axes of its file.
enum Lie {
    /// Along the axes, which it is turned with.
    AlongAxes,
    /// Along z of the file, or as a file of its own says.
    AlongItsOwn,
}

impl Conversion {
    pub(super) fn body(&self, body: &Body) -> Body {
        let material = &body.material;
        let pressure = |value: Option<f64>| value.map(|x| self.number(Pressure, x));
        let (shape, lie) = self.body_shape(&body.shape);
        Body {
            shape,
            pose: self.pose(&body.pose, lie),
            velocity: self.vector(Velocity, body.velocity),
            angular_velocity: self.vector(AngularVelocity, body.angular_velocity),
            density: body.density.map(|density| self.number(Density, density)),
            mass: body.mass.map(|mass| self.number(Mass, mass)),
            material: Material {
                mu: pressure(material.mu),
                lambda: pressure(material.lambda),
                young: pressure(material.young),
                viscosity: self.number(Viscosity, material.viscosity),
                damping: self.number(Rate, material.damping),
                relaxation: material.relaxation.as_ref().map(|own| Relaxation {
                    modulus: pressure(own.modulus),
                    time: own.time.map(|time| self.number(Time, time)),
                }),
                ..material.clone()
            },
            albedo: body.albedo,
            clamps: body.clamps.iter().map(|clamp| self.clamp(clamp)).collect(),
            load: body
                .load
                .as_ref()
                .map(|load| Load { at: self.position(load.at), mass: load.mass.map(|mass| self.number(Mass, mass)) }),
        }
    }

    /// A pose turns with the shape of its body.
    pub(super) fn take(&self, take: &Take, document: &Document) -> Take {
        let start = |(name, start): (&String, &Start)| {
            let lie = document.bodies.get(name).map_or(Lie::AlongAxes, |body| self.body_shape(&body.shape).1);
            let start = Start {
                pose: start.pose.as_ref().map(|pose| self.pose(pose, lie)),
                velocity: start.velocity.map(|v| self.vector(Velocity, v)),
                angular_velocity: start.angular_velocity.map(|w| self.vector(AngularVelocity, w)),
            };
            (name.clone(), start)
        };
        Take { bodies: take.bodies.iter().map(start).collect() }
    }

    pub(super) fn collider(&self, collider: &Collider) -> Collider {
        let (shape, lie) = match &collider.shape {
            ColliderShape::HalfSpace(plane) => {
                let (normal, point) = (self.direction(plane.normal), self.vector(Length, plane.point));
                (ColliderShape::HalfSpace(HalfSpace { normal, point }), Lie::AlongAxes)
            }
            ColliderShape::Box(shape) => (ColliderShape::Box(self.cuboid(shape)), Lie::AlongAxes),
            ColliderShape::Sphere(shape) => (ColliderShape::Sphere(self.sphere(shape)), Lie::AlongAxes),
            ColliderShape::Capsule(shape) => (ColliderShape::Capsule(self.capsule(shape)), Lie::AlongItsOwn),
        };
        let motion = Motion {
            velocity: self.vector(Velocity, collider.motion.velocity),
            angular_velocity: self.vector(AngularVelocity, collider.motion.angular_velocity),
        };
        Collider {
            shape,
            pose: self.pose(&collider.pose, lie),
            motion,
            contact: collider.contact,
            restitution: collider.restitution,
        }
    }

    /// A point of a body turns with its shape.
    pub(super) fn push(&self, push: &Push, document: &Document) -> Push {
        let at = |at: At, body: &Option<String>| match at {
            At::Centre(arm) => At::Centre(self.vector(Length, arm)),
            At::Body(point) => {
                let only = document.bodies.values().next();
                let of = body.as_ref().map_or(only, |name| document.bodies.get(name));
                match of.map(|body| self.body_shape(&body.shape).1) {
                    Some(Lie::AlongItsOwn) => At::Body(point.map(|x| self.number(Length, x))),
                    Some(Lie::AlongAxes) | None => At::Body(self.vector(Length, point)),
                }
            }
        };
        let time = |x| self.number(Time, x);
        match push {
            Push::Force(force) => Push::Force(Force {
                vector: self.direction(force.vector),
                at: at(force.at, &force.body),
                interval: force.interval.map(time),
                ..force.clone()
            }),
            Push::Impulse(impulse) => Push::Impulse(Impulse {
                vector: self.direction(impulse.vector),
                at: at(impulse.at, &impulse.body),
                time: time(impulse.time),
                ..impulse.clone()
            }),
        }
    }

    pub(super) fn camera(&self, camera: &Camera) -> Camera {
        let depth = |value: Option<f64>| value.map(|x| self.number(Length, x));
        Camera {
            position: self.vector(Length, camera.position),
            look_at: self.vector(Length, camera.look_at),
            up: camera.up.map(|up| self.direction(up)),
            vertical_fov: self.number(Angle, camera.vertical_fov),
            near: depth(camera.near),
            far: depth(camera.far),
            ..camera.clone()
        }
    }

    pub(super) fn observation(&self, observation: &Observation) -> Observation {
        match observation {
            Observation::Markers(markers) => Observation::Markers(Markers {
                points: markers.points.as_ref().map(|all| all.iter().map(|point| self.position(*point)).collect()),
                deviation: self.number(Length, markers.deviation),
                ..markers.clone()
            }),
            Observation::CentreOfMass(centre) => Observation::CentreOfMass(CentreOfMass {
                deviation: self.number(Length, centre.deviation),
                ..centre.clone()
            }),
        }
    }

    pub(super) fn video(&self, video: &Video) -> Video {
        let length = |x| self.number(Length, x);
        let depth = video.depth.as_ref().map(|depth| Depth {
            scale: depth.scale.map(length),
            deviation: length(depth.deviation),
            ..depth.clone()
        });
        Video { depth, ..video.clone() }
    }

    pub(super) fn light(&self, light: &Light) -> Light {
        Light { direction: self.direction(light.direction), intensity: light.intensity }
    }

    fn body_shape(&self, shape: &BodyShape) -> (BodyShape, Lie) {
        let length = |x| self.number(Length, x);
        match shape {
            BodyShape::Box(shape) => (BodyShape::Box(self.cuboid(shape)), Lie::AlongAxes),
            BodyShape::Sphere(shape) => (BodyShape::Sphere(self.sphere(shape)), Lie::AlongAxes),
            BodyShape::Ellipsoid(shape) => {
                (BodyShape::Ellipsoid(Ellipsoid { radii: self.lengths(shape.radii) }), Lie::AlongAxes)
            }
            BodyShape::Capsule(shape) => (BodyShape::Capsule(self.capsule(shape)), Lie::AlongItsOwn),
            BodyShape::Cylinder(Cylinder { radius, height }) => {
                let cylinder = Cylinder { radius: length(*radius), height: length(*height) };
                (BodyShape::Cylinder(cylinder), Lie::AlongItsOwn)
            }
            BodyShape::Torus(Torus { radius, tube }) => {
                (BodyShape::Torus(Torus { radius: length(*radius), tube: length(*tube) }), Lie::AlongItsOwn)
            }
            BodyShape::Mesh(MeshFile { file, scale }) => {
                (BodyShape::Mesh(MeshFile { file: file.clone(), scale: length(*scale) }), Lie::AlongItsOwn)
            }
        }
    }

    fn cuboid(&self, shape: &BoxShape) -> BoxShape {
        let corners = shape.min.zip(shape.max).map(|(min, max)| {
            let [min, max] = [min, max].map(|corner| self.vector(Length, corner));
            // The turn changes the sign of the second component.
            match self.up {
                Up::Z => (min, max),
                Up::Y => ([min[0], max[1], min[2]], [max[0], min[1], max[2]]),
            }
        });
        match corners {
            Some((min, max)) => {
                BoxShape { size: shape.size.map(|size| self.lengths(size)), min: Some(min), max: Some(max) }
            }
            None => BoxShape { size: shape.size.map(|size| self.lengths(size)), ..shape.clone() },
        }
    }

    fn sphere(&self, shape: &Sphere) -> Sphere {
        Sphere { radius: self.number(Length, shape.radius) }
    }

    fn capsule(&self, shape: &Capsule) -> Capsule {
        Capsule { radius: self.number(Length, shape.radius), length: self.number(Length, shape.length) }
    }

    fn pose(&self, pose: &Pose, lie: Lie) -> Pose {
        let rotation = pose.rotation.map(|x| self.number(Angle, x));
        let rotation = match (self.up, lie) {
            (Up::Z, Lie::AlongAxes | Lie::AlongItsOwn) => rotation,
            (Up::Y, Lie::AlongAxes) => self.direction(rotation),
            (Up::Y, Lie::AlongItsOwn) => after(rotation, UPRIGHT),
        };
        Pose { position: self.vector(Length, pose.position), rotation }
    }

    fn clamp(&self, clamp: &Clamp) -> Clamp {
        let plane = self.number(Length, clamp.plane);
        let other = match clamp.side {
            Side::Below => Side::Above,
            Side::Above => Side::Below,
        };
        match (self.up, clamp.axis) {
            (Up::Z, axis) | (Up::Y, axis @ Axis::X) => Clamp { axis, plane, side: clamp.side },
            (Up::Y, Axis::Y) => Clamp { axis: Axis::Z, plane, side: clamp.side },
            (Up::Y, Axis::Z) => Clamp { axis: Axis::Y, plane: 0.0 - plane, side: other },
        }
    }
}
