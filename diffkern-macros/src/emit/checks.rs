//! The checks that each kernel comes with.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

use super::signature::{replace_real, unseen};
use crate::parse::Signature;

/// Generic over the domain's type, so that whoever calls neither pays for neither.
pub(super) fn checks(sig: &Signature, names: &[Ident], types: &[TokenStream], args: &[TokenStream]) -> TokenStream {
    let real = sig.real.as_ref().map(|_| {
        quote!(
            type F = f64;
        )
    });
    let double = Ident::new("f64", Span::call_site());
    let types: Vec<_> = types.iter().map(|t| replace_real(t.clone(), &double)).collect();
    let scalar = if sig.real.is_some() { quote!(f64) } else { quote!(f32) };
    let (domain, device) = (unseen("domain"), unseen("device"));
    quote! {
        /// Checks the adjoint and the tangent at the given point, in f64 on the CPU: the dot-product identity and
        /// finite differences.
        ///
        /// # Errors
        /// When a bound is missed; the message has the numbers.
        pub fn gradcheck(
            #domain: impl ::core::convert::Into<::diffkern::Domain>,
            #(#names: #types),*
        ) -> ::diffkern::Result<::diffkern::GradcheckReport> {
            #real
            ::diffkern::private::gradcheck(
                Self::def(),
                Self::native::<#scalar>(),
                ::core::convert::Into::into(#domain),
                &[#(#args),*],
            )
        }

        /// Compares values, gradient and tangent on `device` with those on the CPU at the given point, in f32, and in f64
        /// where the device has it. Returns the largest relative difference in f32.
        ///
        /// # Errors
        /// When it is over 1e-4, in f64 2e-13, and more than rounding; the message has the numbers.
        pub fn devicecheck(
            #device: &::diffkern::Device,
            #domain: impl ::core::convert::Into<::diffkern::Domain>,
            #(#names: #types),*
        ) -> ::diffkern::Result<f64> {
            #real
            ::diffkern::private::devicecheck(
                #device,
                Self::def(),
                (Self::native::<f32>(), Self::native::<f64>()),
                ::core::convert::Into::into(#domain),
                &[#(#args),*],
            )
        }

        /// Compares the bodies that run on packs of lanes with the scalar one, at the given point: values and gradient,
        /// for every kind of pack that this machine has. Returns the largest relative difference in f32.
        ///
        /// # Errors
        /// When it is more than rounding; the message has the numbers.
        pub fn lanecheck(
            #domain: impl ::core::convert::Into<::diffkern::Domain>,
            #(#names: #types),*
        ) -> ::diffkern::Result<f64> {
            #real
            ::diffkern::private::lanecheck(
                Self::def(),
                (
                    Self::on_lanes::<f32, ::diffkern::private::OneByOne>(),
                    Self::on_lanes::<#scalar, ::diffkern::private::OneByOne>(),
                ),
                &[
                    ::diffkern::private::on_packs::<::diffkern::private::Narrow>(
                        Self::on_lanes::<f32, ::diffkern::private::Narrow>,
                    ),
                    ::diffkern::private::on_packs::<::diffkern::private::Wide>(
                        Self::on_lanes::<f32, ::diffkern::private::Wide>,
                    ),
                ],
                ::core::convert::Into::into(#domain),
                &[#(#args),*],
            )
        }
    }
}
