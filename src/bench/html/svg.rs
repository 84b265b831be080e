// SPDX-License-Identifier: GPL-2.0-only
//! The plots: SVG text from numbers.
//!
//! All are 360 units wide, about the pixels of a phone, so that their text is readable
//! there; colours are classes `a0` … `a7` that the page's style defines.

use super::escape;
use crate::bench::stats;
use crate::bench::table::number;

const WIDTH: f64 = 360.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = 352.0;
/// Characters of a label that fit into the width.
const LABEL: usize = 52;
/// Arms that have a colour of their own.
pub const COLOURS: usize = 8;

/// A labelled interval, in percent of the baseline; positive is better.
pub struct Gain {
    /// Its row's label.
    pub label: String,
    /// Which colour.
    pub arm: usize,
    /// The middle.
    pub middle: f64,
    /// The interval's ends, the lower first.
    pub ends: (f64, f64),
}

/// A labelled sample.
pub struct Sample {
    /// Its row's label.
    pub label: String,
    /// Which colour.
    pub arm: usize,
    /// In the order measured.
    pub values: Vec<f64>,
}

/// A line over sizes: for each size the lower quartile, the median and the upper one.
pub struct Line {
    /// Which colour.
    pub arm: usize,
    /// `None` where there is no value.
    pub points: Vec<Option<[f64; 3]>>,
}

fn open(height: f64, what: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n",
        escape(what)
    )
}

fn text(x: f64, y: f64, anchor: &str, words: &str) -> String {
    let short: String = if words.chars().count() > LABEL {
        words.chars().take(LABEL - 1).chain(['…']).collect()
    } else {
        words.into()
    };
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n",
        escape(&short)
    )
}

fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> String {
    format!(
        "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>\n",
        from.0, from.1, to.0, to.1
    )
}

fn dot(class: &str, x: f64, y: f64, r: f64) -> String {
    format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\"/>\n")
}

fn colour(arm: usize) -> String {
    format!("a{}", arm % COLOURS)
}

/// A scale from `low` … `high` to `from` … `to`.
#[derive(Clone, Copy)]
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Over all values, with some room at both ends.
    fn over(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low.is_finite() {
            (low, high)
        } else {
            (0.0, 1.0)
        };
        // All the same: some width all the same.
        let room = ((high - low) * 0.06).max(high.abs() * 0.01).max(1e-9);
        Scale {
            low: low - room,
            high: high + room,
            from,
            to,
        }
    }

    fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }
}

/// Each arm's gain over the baseline with its interval, one row each.
pub fn gains(rows: &[Gain]) -> String {
    let ends = rows
        .iter()
        .flat_map(|row| [row.ends.0, row.ends.1, row.middle]);
    let scale = Scale::over(ends.chain([0.0]), LEFT + 4.0, RIGHT - 4.0);
    let height = 34.0 * rows.len() as f64 + 34.0;
    let mut svg = open(height, "gain over the baseline in percent, with intervals");
    let zero = scale.at(0.0);
    svg += &line("zero", (zero, 4.0), (zero, height - 30.0));
    for (at, row) in rows.iter().enumerate() {
        let y = 34.0 * at as f64;
        let class = colour(row.arm);
        svg += &text(LEFT, y + 14.0, "start", &row.label);
        let (low, high) = (scale.at(row.ends.0), scale.at(row.ends.1));
        svg += &line(
            &format!("interval {class}"),
            (low, y + 24.0),
            (high, y + 24.0),
        );
        svg += &dot(&class, scale.at(row.middle), y + 24.0, 4.0);
    }
    svg += &axis(scale, height - 26.0, |v| format!("{v:+.1} %"));
    svg += &text(LEFT, height - 2.0, "start", "worse");
    svg += &text(RIGHT, height - 2.0, "end", "better");
    svg + "</svg>\n"
}

fn axis(scale: Scale, y: f64, label: impl Fn(f64) -> String) -> String {
    let mut svg = line("axis", (scale.from, y), (scale.to, y));
    let room = (scale.high - scale.low) * 0.06;
    let (low, high) = (scale.low + room, scale.high - room);
    for (value, anchor) in [
        (low, "start"),
        ((low + high) / 2.0, "middle"),
        (high, "end"),
    ] {
        svg += &line("axis", (scale.at(value), y), (scale.at(value), y + 3.0));
        svg += &text(scale.at(value), y + 14.0, anchor, &label(value));
    }
    svg
}

/// Every value as a dot, the median as a bar, one row per arm.
pub fn distributions(rows: &[Sample], unit: &str) -> String {
    let values = rows.iter().flat_map(|row| row.values.iter().copied());
    let scale = Scale::over(values, LEFT + 4.0, RIGHT - 4.0);
    let height = 42.0 * rows.len() as f64 + 20.0;
    let mut svg = open(height, "every value measured, and the medians");
    for (at, row) in rows.iter().enumerate() {
        let y = 42.0 * at as f64;
        let class = colour(row.arm);
        svg += &text(LEFT, y + 12.0, "start", &row.label);
        for (nth, value) in row.values.iter().enumerate() {
            // Spread in height in the order measured, so that equal values are seen.
            let up = (nth * 5 % 11) as f64 * 1.6;
            svg += &dot(
                &format!("faint {class}"),
                scale.at(*value),
                y + 19.0 + up,
                2.5,
            );
        }
        if !row.values.is_empty() {
            let x = scale.at(stats::median(&row.values));
            svg += &line(&format!("median {class}"), (x, y + 16.0), (x, y + 38.0));
        }
    }
    svg += &axis(scale, height - 16.0, |v| format!("{} {unit}", number(v)));
    svg + "</svg>\n"
}

/// Medians over sizes with their quartiles, one line per arm.
pub fn by_size(sizes: &[String], lines: &[Line], unit: &str, param: &str) -> String {
    let height = 210.0;
    let (top, bottom) = (20.0, height - 34.0);
    let values = lines
        .iter()
        .flat_map(|line| line.points.iter().flatten().flatten().copied());
    let scale = Scale::over(values.chain([0.0]), bottom, top);
    let step = (RIGHT - LEFT - 60.0) / (sizes.len().max(2) - 1) as f64;
    let x = |at: usize| LEFT + 30.0 + step * at as f64;
    let mut svg = open(height, &format!("{unit} against {param}"));
    svg += &line("axis", (LEFT, scale.at(0.0)), (RIGHT, scale.at(0.0)));
    let most = scale.high - (scale.high - scale.low) * 0.055;
    svg += &text(
        LEFT,
        top - 8.0,
        "start",
        &format!("{} {unit}", number(most)),
    );
    for (at, size) in sizes.iter().enumerate() {
        svg += &text(x(at), height - 18.0, "middle", size);
    }
    svg += &text(WIDTH / 2.0, height - 3.0, "middle", param);
    for (nth, arm) in lines.iter().enumerate() {
        let class = colour(arm.arm);
        // Beside each other, or one arm's quartiles hide another's.
        let aside = (nth as f64 - (lines.len() as f64 - 1.0) / 2.0) * 3.0;
        let mut last: Option<(f64, f64)> = None;
        for (at, point) in arm.points.iter().enumerate() {
            let Some([low, middle, high]) = point else {
                last = None;
                continue;
            };
            let here = (x(at) + aside, scale.at(*middle));
            if let Some(last) = last {
                svg += &line(&class, last, here);
            }
            svg += &line(&class, (here.0, scale.at(*low)), (here.0, scale.at(*high)));
            svg += &dot(&class, here.0, here.1, 3.0);
            last = Some(here);
        }
    }
    svg + "</svg>\n"
}
