//! Against nalgebra, on matrices and vectors without structure.

use super::*;
use crate::element::Element;

const A: Mat3<f64> = Mat3::from_array([2.0, -1.0, 0.5, 0.3, 1.7, -0.2, 0.9, 0.4, 3.1]);
const B: Mat3<f64> = Mat3::from_array([0.1, 1.2, -2.3, 3.4, -0.5, 0.6, 0.7, 0.8, -1.9]);
const U: Vec3<f64> = Vec3::new(0.3, -1.1, 2.4);
const V: Vec3<f64> = Vec3::new(1.6, 0.2, -0.7);

fn n3(m: Mat3<f64>) -> nalgebra::Matrix3<f64> {
    m.into()
}

fn nv(v: Vec3<f64>) -> nalgebra::Vector3<f64> {
    v.into()
}

#[track_caller]
fn close<const N: usize>(a: [f64; N], b: [f64; N]) {
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13), "{a:?} is not {b:?}");
}

fn flat(m: nalgebra::Matrix3<f64>) -> [f64; 9] {
    Mat3::from(m).to_array()
}

#[test]
fn products_agree() {
    close((A * B).to_array(), flat(n3(A) * n3(B)));
    close((A * V).to_array(), (n3(A) * nv(V)).into());
    close(U.outer(V).to_array(), flat(nv(U) * nv(V).transpose()));
    close(U.cross(V).to_array(), nv(U).cross(&nv(V)).into());
    close([U.dot(V), A.ddot(B), U.norm()], [nv(U).dot(&nv(V)), n3(A).dot(&n3(B)), nv(U).norm()]);
    close(U.normalize().to_array(), nv(U).normalize().into());
    close((2.0 * A - B / 3.0).to_array(), flat(n3(A) * 2.0 - n3(B) / 3.0));
}

#[test]
fn inverses_and_determinants_agree() {
    close([A.determinant(), A.trace()], [n3(A).determinant(), n3(A).trace()]);
    close((A * A.inverse()).to_array(), Mat3::identity().to_array());
    let a = Mat2::new(2.0, -1.0, 0.5, 0.3);
    let n: nalgebra::Matrix2<f64> = a.into();
    close([a.determinant(), a.trace()], [n.determinant(), n.trace()]);
    close((a * a.inverse()).to_array(), [1.0, 0.0, 0.0, 1.0]);
    close((a * Vec2::new(1.0, 2.0)).to_array(), (n * nalgebra::Vector2::new(1.0, 2.0)).into());
    close(Mat2::from(n * n).to_array(), (a * a).to_array());
}

#[test]
fn storage_is_row_major_and_dense() {
    assert_eq!((A.get(5), A[(1, 2)], A.row(1).z, A.col(2).y), (-0.2, -0.2, -0.2, -0.2));
    assert_eq!(A.transpose().to_array(), flat(n3(A).transpose()));
    assert_eq!(Mat3::from_rows(A.row(0), A.row(1), A.row(2)), A);
    assert_eq!(Mat3::from_cols(A.col(0), A.col(1), A.col(2)), A);
    assert_eq!(Mat3::from_diagonal(U) * V, U.mul_elem(V));
    assert_eq!((size_of::<Vec3<f32>>(), align_of::<Vec3<f32>>(), size_of::<Mat3<f64>>()), (12, 4, 72));
    assert_eq!((Vec4::<f32>::COMPONENTS, Mat2::<f32>::COMPONENTS, Mat3::<f32>::ZERO), (4, 4, Mat3::zero()));
}

#[test]
fn components_are_read_and_replaced() {
    let mut v = Vec4::new(1.0f32, 2.0, 3.0, 4.0).with(2, 9.0);
    v[0] = -1.0;
    v += Vec4::from([1.0; 4]);
    v *= 2.0;
    assert_eq!(v.to_array(), [0.0, 6.0, 20.0, 10.0]);
    assert_eq!((v.get(3), v[1], (-v).w), (10.0, 6.0, -10.0));
    assert_eq!(A.with(4, 8.0)[(1, 1)], 8.0);
    assert_eq!([U, V].into_iter().sum::<Vec3<f64>>(), U + V);
}
