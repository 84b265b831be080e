// SPDX-License-Identifier: GPL-2.0-only
//! What a machine does to a series of runs, from slot to slot.

use scx_sibling::bench::stats::Rng;

/// Kinds of noise: each gives a factor per slot around 1.
#[derive(Debug, Clone, Copy)]
pub enum Noise {
    /// Independent, 3 % from run to run.
    Plain,
    /// The machine grows slower by a fifth over the session, unsteadily.
    Drift,
    /// Something else runs now and then for a few slots.
    Bursts,
    /// Mostly calm, sometimes far out (Student's t with 3 degrees of freedom).
    Tails,
}

pub const ALL: [Noise; 4] = [Noise::Plain, Noise::Drift, Noise::Bursts, Noise::Tails];

/// A number of the standard normal distribution (Box and Muller).
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// The factor of every slot.
pub fn slots(noise: Noise, count: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    let rng = &mut rng;
    let (mut walk, mut burst) = (0.0, 0);
    (0..count)
        .map(|slot| {
            let part = slot as f64 / count as f64;
            let log = match noise {
                Noise::Plain => 0.03 * normal(rng),
                Noise::Drift => {
                    walk += 0.01 * normal(rng);
                    0.2 * part + walk + 0.02 * normal(rng)
                }
                Noise::Bursts => {
                    if burst == 0 && rng.unit() < 0.05 {
                        burst = 1 + rng.below(6);
                    }
                    let slowed = if burst > 0 {
                        0.1 + 0.4 * rng.unit()
                    } else {
                        0.0
                    };
                    burst = burst.saturating_sub(1);
                    slowed + 0.02 * normal(rng)
                }
                Noise::Tails => {
                    let squares: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
                    0.02 * normal(rng) / (squares / 3.0).sqrt()
                }
            };
            log.exp()
        })
        .collect()
}
