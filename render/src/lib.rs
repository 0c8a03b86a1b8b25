//! Differentiable pictures of triangle meshes: exact soft silhouettes, Lambert shading, depth, image losses, image files.
//!
//! # Method, and how it relates to SoftRas
//! SoftRas (Liu et al. 2019) gives every pixel `1 - product of (1 - sigmoid(d_k |d_k| / sigma))` over all triangles, `d_k`
//! the signed distance to triangle `k`, and blends colours by a softmax over depth. Its coverage counts a face that is
//! split in two twice along the cut, its area grows with sigma, and every pixel sees every triangle. Here the sigmoid
//! of a distance is replaced by the exact area of the triangle under a box filter of `w` pixels ([`coverage`]), and the
//! product by a sum: shared edges cancel, the total area is the projected area for every whole `w`, and the support is
//! compact, so work per tile has no seam. `w = 1` is the box-filtered image that supersampling converges to. Colours
//! are composited front to back by covered area instead of by a softmax ([`renderer::Renderer`]).
//!
//! # Where gradients are one-sided or zero
//! - coverage is `min(1, sum)`: where two layers that face the camera overlap partly inside one pixel and their shares
//!   add up to 1 or more, the pixel is full, and its derivative zero;
//! - a triangle that turns its back leaves the sum: its area is zero then, its derivative jumps;
//! - an edge parallel to an image axis that crosses the border of a filter box: the derivative jumps;
//! - `max(0, n.l)` and clipping of shaded colours;
//! - the order of overlapping layers is constant: no gradient flows through it or to hidden triangles.
//!
//! # Example
//! ```
//! use diffkern::{Device, Tape, Vec3};
//! use diffkern_render::{Camera, Mesh, Renderer, loss};
//!
//! let device = Device::cpu();
//! let camera = Camera {
//!     position: [0.0, -3.0, 0.0],
//!     look_at: [0.0; 3],
//!     up: [0.0, 0.0, 1.0],
//!     vertical_fov: 0.7,
//!     width: 32,
//!     height: 32,
//!     near: 0.1,
//! };
//! let triangle = Mesh::flat(vec![[0, 1, 2]], 3)?;
//! let corners = [Vec3::new(-0.5, 0.0, -0.4), Vec3::new(0.5, 0.0, -0.4), Vec3::new(0.0, 0.0, 0.6)];
//! let vertices = device.array::<Vec3<f64>>(&corners)?.requires_grad();
//! let camera = camera.params(&device)?;
//! let empty = device.zeros::<f64>(32 * 32)?;
//! let renderer = Renderer::new(&device, &triangle)?;
//! let (tape, loss) = Tape::record_value(|| {
//!     let image = renderer.silhouette(&vertices, &camera)?;
//!     loss::l2(&image.coverage, &empty)
//! })?;
//! tape.backward(&loss)?;
//! assert!(vertices.grad()?.to_vec()?[2].z > 0.0); // a higher tip covers more
//! # Ok::<(), diffkern_render::Error>(())
//! ```
//!
//! # Modules
//! In the order in which data flows; each uses those above it.
//!
//! - `error`: what can go wrong
//! - `mesh`: triangles
//! - `lens`: what a lens does to the places of vertices, and exposure
//! - `camera`: a pinhole, and its parameters
//! - `light`: light and how surfaces take it
//! - `bin`: which triangles a tile sees
//! - `coverage`: the exact area of a triangle under a box
//! - `raster`: areas and colours of the pixels of a tile
//! - `shade`: colours of corners
//! - `depth`: reciprocals of depth in the place of colours
//! - `silhouette`: coverage alone, with its adjoint
//! - `renderer`: a mesh to a picture
//! - `loss`: differences of pictures
//! - `pyramid`: pictures at coarser levels
//! - `blur`: blurred pictures on the host
//! - `image`: files of pictures
//! - `animation`: files of moving pictures
#![deny(missing_docs)]

mod error;

pub mod mesh;

pub mod lens;
pub mod camera;
pub mod light;

#[doc(hidden)]
pub mod bin;
pub mod coverage;
#[doc(hidden)]
pub mod raster;
#[doc(hidden)]
pub mod shade;
#[doc(hidden)]
pub mod depth;
#[doc(hidden)]
pub mod silhouette;

pub mod renderer;

pub mod loss;
pub mod pyramid;

pub mod blur;
pub mod image;
pub mod animation;

pub use camera::{Camera, CameraParams};
pub use error::{Error, Result};
pub use lens::Lens;
pub use light::{Light, Lighting};
pub use mesh::Mesh;
pub use renderer::{DepthMap, Renderer, Shaded, Silhouette};
