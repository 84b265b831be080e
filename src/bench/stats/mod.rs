// SPDX-License-Identifier: GPL-2.0-only
//! The statistics of a comparison: pure functions over slices.
//!
//! Two arms are compared by pairs, one value of each per round. How large the
//! difference is: the median of the rounds' ratios with a bootstrap interval. Whether
//! there is one: the exact signed-rank test, corrected for the number of
//! comparisons by Holm's method. Both must agree before a difference is called.

mod bootstrap;
mod holm;
mod quantile;
mod rng;
pub mod signed_rank;
mod unpaired;
mod verdict;

pub use bootstrap::median_interval;
pub use bootstrap::round_ratios;
pub use bootstrap::Interval;
pub use bootstrap::RESAMPLES;
pub use holm::holm;
pub use quantile::deviation;
pub use quantile::mean;
pub use quantile::median;
pub use quantile::percentile;
pub use rng::Rng;
pub use unpaired::compare_apart;
pub use unpaired::rank_sum_p;
pub use unpaired::ratio_interval;
pub use verdict::compare;
pub use verdict::judge;
pub use verdict::rounds_needed;
pub use verdict::Better;
pub use verdict::Comparison;
pub use verdict::Verdict;
pub use verdict::LEVEL;
