// SPDX-License-Identifier: GPL-2.0-only
//! CPU lists as the kernel writes them: `0-3,8`.

use std::fmt;
use std::str::FromStr;

/// Highest CPU number accepted; the kernel's own limit (NR_CPUS) is 8192.
const MAX_CPU: usize = 65_535;

/// CPUs in the order in which they were named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuList(pub Vec<usize>);

/// Parses a list; nothing but white space gives an empty one.
pub fn parse(text: &str) -> Result<Vec<usize>, String> {
    let text = text.trim();
    let mut cpus = Vec::new();
    if text.is_empty() {
        return Ok(cpus);
    }
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first, text)?, number(last, text)?);
        if first > last {
            return Err(format!(
                "'{part}' in CPU list '{text}' runs backwards: write {last}-{first}"
            ));
        }
        cpus.extend(first..=last);
    }
    Ok(cpus)
}

fn number(digits: &str, list: &str) -> Result<usize, String> {
    match digits.trim().parse::<usize>() {
        Ok(cpu) if cpu <= MAX_CPU => Ok(cpu),
        _ => Err(format!(
            "'{digits}' in CPU list '{list}' is not a CPU number from 0 to {MAX_CPU}: write a list such as 0-3,8"
        )),
    }
}

/// Writes `cpus` as a list, neighbours folded into ranges.
pub fn format(cpus: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    let parts: Vec<String> = parts
        .iter()
        .map(|&(a, b)| {
            if a == b {
                a.to_string()
            } else {
                format!("{a}-{b}")
            }
        })
        .collect();
    parts.join(",")
}

impl FromStr for CpuList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match parse(text)? {
            cpus if cpus.is_empty() => Err("the CPU list is empty: name at least one CPU".into()),
            cpus => Ok(Self(cpus)),
        }
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format(&self.0))
    }
}

/// Exactly two CPUs, in the order given; they may be the same.
pub fn parse_pair(text: &str) -> Result<[usize; 2], String> {
    <[usize; 2]>::try_from(parse(text)?).map_err(|cpus| {
        format!(
            "two CPUs are needed, '{text}' names {}: write A,B",
            cpus.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_parse_and_print() {
        assert_eq!(parse("0-3,8\n").unwrap(), [0, 1, 2, 3, 8]);
        assert_eq!(parse(" \n").unwrap(), [0usize; 0]);
        assert_eq!(format(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(format(&[]), "");
        assert_eq!("3,1".parse::<CpuList>().unwrap().0, [3, 1]);
        assert_eq!(CpuList(vec![3, 1]).to_string(), "3,1");
    }

    #[test]
    fn bad_lists_are_refused() {
        for bad in ["x", "1,", "3-1", "-1", "0-99999999999", "1-2-3", "70000"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!("".parse::<CpuList>().is_err());
    }

    #[test]
    fn a_pair_has_two() {
        assert_eq!(parse_pair("4,2"), Ok([4, 2]));
        assert_eq!(parse_pair("2,2"), Ok([2, 2]));
        assert!(parse_pair("1").is_err());
        assert!(parse_pair("1-3").is_err());
    }
}
