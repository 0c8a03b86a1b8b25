//! From vertices to pictures.

use diffkern::{Array, Device, Float, Vec3, Vec4, memory};

use crate::bin::bin;
use crate::camera::CameraParams;
use crate::depth::{inverse_depths, split_depths};
use crate::error::{Error, Result, same_length};
use crate::lens::expose;
use crate::light::Lighting;
use crate::mesh::Mesh;
use crate::raster::{composite, rasterize};
use crate::shade::{gather_normals, lambert, turn_to_camera};
use crate::silhouette::silhouette;

/// Draws one mesh from any camera: exact coverage, Lambert-shaded colour and depth, differentiable in the vertices, the
/// albedo, the lights and the camera.
///
/// # Gradient
/// Exact for what is computed. One-sided where a triangle turns from front to back, where an edge parallel to an image
/// axis crosses a pixel's border, where coverage reaches 1 in a pixel in which two layers overlap partly, and where
/// shading is clipped. Zero for what is hidden (SoftRas blends hidden triangles in). Which of two overlapping layers
/// is in front is decided per tile of 8 by 8 pixels from constant depths: the image jumps when that order changes.
#[derive(Clone, Debug)]
pub struct Renderer<F: Float> {
    mesh: Mesh,
    corners: Array<u32>,
    group_vertex: Array<u32>,
    filter: f64,
    far: f64,
    _real: std::marker::PhantomData<F>,
}

/// Coverage of an image, row by row from the top left.
#[derive(Clone, Debug)]
pub struct Silhouette<F: Float> {
    /// `height * width` values in 0..1.
    pub coverage: Array<F>,
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// Colour and coverage of an image, row by row from the top left.
#[derive(Clone, Debug)]
pub struct Shaded<F: Float> {
    /// Linear colours over the background, `height * width`.
    pub color: Array<Vec3<F>>,
    /// `height * width` values in 0..1.
    pub coverage: Array<F>,
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// Depth and coverage of an image, row by row from the top left.
///
/// Depth is along the optical axis, as depth cameras give it. Where a pixel shows one plane, `coverage / inverse` is the depth of
/// its middle; where it shows several layers, the harmonic mean over what of them is seen.
#[derive(Clone, Debug)]
pub struct DepthMap<F: Float> {
    /// `height * width` values in 0..1.
    pub coverage: Array<F>,
    /// Mean over each pixel of the reciprocal of the depth, 0 where nothing is \[1/m\]: `coverage` times its mean over the covered part.
    pub inverse: Array<F>,
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// Projected vertices and the candidates of every tile.
struct Prepared<F: Float> {
    projected: Array<Vec3<F>>,
    start: Array<u32>,
    list: Array<u32>,
    tiles_x: u32,
    most: u32,
}

impl<F: Float> Renderer<F> {
    /// Uploads the topology. The filter is a box of one pixel.
    ///
    /// # Errors
    /// When the device cannot hold it.
    pub fn new(device: &Device, mesh: &Mesh) -> Result<Self> {
        let mut corners = memory::with_room(6 * mesh.triangles().len())?;
        mesh.triangles().iter().zip(mesh.groups()).for_each(|(t, g)| corners.extend(t.iter().chain(g)));
        Ok(Self {
            mesh: mesh.clone(),
            corners: device.array(&corners)?,
            group_vertex: device.array(mesh.group_vertex())?,
            filter: 1.0,
            far: f64::INFINITY,
            _real: std::marker::PhantomData,
        })
    }

    /// Sets the greatest depth of a vertex that may be drawn \[m\]: one beyond is an error, as one before the near plane is,
    /// because a triangle that is cut off has another gradient.
    ///
    /// # Errors
    /// A depth that is not positive.
    pub fn with_far(self, far: f64) -> Result<Self> {
        if far > 0.0 {
            return Ok(Self { far, ..self });
        }
        Err(Error::Value { what: "far", value: format!("{far} m"), expected: "a positive distance".into() })
    }

    /// Sets the width of the box filter \[px\]: 1 is exact pixel coverage, more is a blur.
    ///
    /// Whole pixels, because only then do the filters of all pixels add up to the same weight everywhere, and the area
    /// of the image to the projected area (of an object inside the image and wider than the filter).
    ///
    /// # Errors
    /// A width outside 1..=64.
    pub fn with_filter_width(mut self, pixels: u32) -> Result<Self> {
        if !(1..=64).contains(&pixels) {
            return Err(Error::Value {
                what: "filter width",
                value: format!("{pixels} pixels"),
                expected: "1 to 64 pixels".into(),
            });
        }
        self.filter = f64::from(pixels);
        Ok(self)
    }

    /// The mesh that is drawn.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Coverage of every pixel: `min(1, sum of the shares of the triangles that face the camera)`.
    ///
    /// Reads the projected vertices to the host.
    ///
    /// # Errors
    /// Another number of vertices than the mesh has, or a vertex that is not finite, before the near plane or beyond
    /// [`Renderer::with_far`].
    pub fn silhouette(&self, vertices: &Array<Vec3<F>>, camera: &CameraParams<F>) -> Result<Silhouette<F>> {
        let p = self.prepare(vertices, camera)?;
        let (width, height) = (camera.width, camera.height);
        let coverage = vertices.device().zeros::<F>(width * height)?;
        silhouette(
            (width, height),
            &p.projected,
            &self.corners,
            &p.start,
            &p.list,
            &coverage,
            F::from_f64(self.filter),
            p.tiles_x,
            self.mesh.is_two_sided(),
        )?;
        Ok(Silhouette { coverage, width, height })
    }

    /// Colour over the background, and coverage.
    ///
    /// Colour is shaded at the normal groups and interpolated affinely in the image (Gouraud). Reads the projected
    /// vertices to the host.
    ///
    /// # Errors
    /// As [`Renderer::silhouette`], and when the albedo has neither one element nor one per vertex, or there are
    /// not as many intensities as directions.
    pub fn shaded(
        &self,
        vertices: &Array<Vec3<F>>,
        camera: &CameraParams<F>,
        lighting: &Lighting<F>,
    ) -> Result<Shaded<F>> {
        let p = self.prepare(vertices, camera)?;
        let colors = self.colors(vertices, camera, lighting)?;
        let device = vertices.device();
        let (width, height) = (camera.width, camera.height);
        let pixels = self.pixels(&p, &colors, (width, height))?;
        let color = device.zeros::<Vec3<F>>(width * height)?;
        let coverage = device.zeros::<F>(width * height)?;
        composite(width * height, &pixels, &lighting.background, &color, &coverage)?;
        let color = match &camera.exposure {
            None => color,
            Some(exposure) => {
                let exposed = device.uninit(width * height)?;
                expose(width * height, &color, exposure, &exposed)?;
                exposed
            }
        };
        Ok(Shaded { color, coverage, width, height })
    }

    /// Depth along the optical axis, and coverage. Reads the projected vertices to the host.
    ///
    /// # Errors
    /// As [`Renderer::silhouette`].
    pub fn depth(&self, vertices: &Array<Vec3<F>>, camera: &CameraParams<F>) -> Result<DepthMap<F>> {
        let p = self.prepare(vertices, camera)?;
        let (device, groups) = (vertices.device(), self.mesh.group_vertex().len());
        let (width, height) = (camera.width, camera.height);
        let inverse = device.uninit(groups)?;
        inverse_depths(groups, &p.projected, &self.group_vertex, &inverse)?;
        let pixels = self.pixels(&p, &inverse, (width, height))?;
        let (coverage, inverse) = (device.uninit(width * height)?, device.uninit(width * height)?);
        split_depths(width * height, &pixels, &coverage, &inverse)?;
        Ok(DepthMap { coverage, inverse, width, height })
    }

    /// What each pixel shows of the `colors` of normal groups, times what is covered of it.
    fn pixels(
        &self,
        p: &Prepared<F>,
        colors: &Array<Vec3<F>>,
        (width, height): (usize, usize),
    ) -> Result<Array<Vec4<F>>> {
        let pixels = colors.device().zeros::<Vec4<F>>(width * height)?;
        rasterize(
            (width, height),
            &p.projected,
            &self.corners,
            colors,
            &p.start,
            &p.list,
            &pixels,
            F::from_f64(self.filter),
            p.tiles_x,
            p.most,
            self.mesh.is_two_sided(),
        )?;
        Ok(pixels)
    }

    /// Lambert-shaded colour of every normal group.
    fn colors(
        &self,
        vertices: &Array<Vec3<F>>,
        camera: &CameraParams<F>,
        lighting: &Lighting<F>,
    ) -> Result<Array<Vec3<F>>> {
        let device = vertices.device();
        let groups = self.mesh.group_vertex().len();
        same_length("intensity", lighting.intensity.len(), lighting.direction.len())?;
        let albedo_per_vertex = lighting.albedo.len() != 1;
        if albedo_per_vertex {
            same_length("albedo", lighting.albedo.len(), self.mesh.vertices())?;
        }
        let mut normals = device.zeros::<Vec3<F>>(groups)?;
        gather_normals(self.mesh.triangles().len(), vertices, &self.corners, &normals)?;
        if self.mesh.is_two_sided() {
            let turned = device.zeros::<Vec3<F>>(groups)?;
            turn_to_camera(groups, &normals, vertices, &self.group_vertex, &camera.position, &turned)?;
            normals = turned;
        }
        let colors = device.zeros::<Vec3<F>>(groups)?;
        lambert(
            groups,
            &normals,
            &self.group_vertex,
            &lighting.albedo,
            &lighting.direction,
            &lighting.intensity,
            &lighting.ambient,
            &colors,
            albedo_per_vertex,
        )?;
        Ok(colors)
    }

    fn prepare(&self, vertices: &Array<Vec3<F>>, camera: &CameraParams<F>) -> Result<Prepared<F>> {
        if vertices.len() != self.mesh.vertices() {
            return Err(Error::Mesh(format!(
                "{} positions for {} vertices; expected one each",
                vertices.len(),
                self.mesh.vertices()
            )));
        }
        let projected = camera.project(vertices)?;
        let host: Vec<[f64; 3]> =
            memory::collect(projected.to_vec()?.into_iter().map(|p| [p.x.to_f64(), p.y.to_f64(), p.z.to_f64()]))?;
        if let Some(vertex) = host.iter().position(|p| p[2] > self.far) {
            let (depth, far) = (host[vertex][2], self.far);
            let problem = format!("is at depth {depth} m; expected it before the far plane at {far} m");
            return Err(Error::Vertex { vertex, problem });
        }
        let bins = bin(&host, &self.mesh, (camera.width, camera.height), self.filter, camera.near)?;
        let device = vertices.device();
        let (start, list) = (device.array(&bins.start)?, device.array(&bins.list)?);
        Ok(Prepared { projected, start, list, tiles_x: bins.tiles_x, most: bins.most })
    }
}
