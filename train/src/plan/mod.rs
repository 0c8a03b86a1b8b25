//! Which throw, camera or second video would tell more, before it is filmed.

mod designs;
mod throws;
mod ranking;
mod report;

pub(crate) use designs::Designs;
pub(crate) use ranking::{Ranked, Ranking};
pub(crate) use report::{lines, record};
