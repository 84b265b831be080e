// SPDX-License-Identifier: GPL-2.0-only
//! Man pages and shell completions, from the tables that the program itself goes by.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use anyhow::Result;
use clap::Command;
use clap::CommandFactory;
use clap::Subcommand;
use clap_complete::Shell;
use clap_mangen::roff::bold;
use clap_mangen::roff::roman;
use clap_mangen::roff::Roff;
use clap_mangen::Man;

use crate::cli::Cli;
use crate::config_file;
use crate::out;
use crate::save;
use crate::stats;
use crate::tunables;

/// What to generate.
#[derive(Debug, Subcommand)]
pub enum Generate {
    /// Print a completion script
    Completions {
        /// For this shell
        shell: Shell,
    },
    /// Write the man pages, one per command
    Man {
        /// An existing directory
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
}

/// Generates.
///
/// # Errors
/// What cannot be written.
pub fn run(what: &Generate) -> Result<()> {
    match what {
        Generate::Completions { shell } => {
            let mut script = Vec::new();
            let mut command = Cli::command();
            let name = command.get_name().to_string();
            clap_complete::generate(*shell, &mut command, name, &mut script);
            out::print(String::from_utf8_lossy(&script))?;
        }
        Generate::Man { dir } => {
            for (name, page) in pages()? {
                write(&dir.join(&name), &page)?;
            }
        }
    }
    Ok(())
}

fn write(file: &Path, page: &[u8]) -> Result<()> {
    save::replace(file, page).with_context(|| format!("writing {}", file.display()))
}

/// Every page by file name; the command's own first.
fn pages() -> Result<Vec<(String, Vec<u8>)>> {
    let mut command = Cli::command();
    command.build();
    let mut pages = Vec::new();
    collect(&command, "", &mut pages)?;
    Ok(pages)
}

fn collect(command: &Command, parent: &str, pages: &mut Vec<(String, Vec<u8>)>) -> Result<()> {
    let name = if parent.is_empty() {
        command.get_name().to_string()
    } else {
        format!("{parent}-{}", command.get_name())
    };
    // The texts of the root's long help are sections of their own in the page.
    let own = command.clone().name(name.clone()).after_help("");
    let man = Man::new(own).section("8");
    let mut page = Vec::new();
    man.render(&mut page).context("rendering a man page")?;
    if parent.is_empty() {
        for section in [settings(), statistics(), exit_status(), files()] {
            section
                .to_writer(&mut page)
                .context("rendering a man page")?;
        }
    }
    pages.push((format!("{name}.8"), page));
    let shown = |c: &&Command| c.get_name() != "help" && !c.is_hide_set();
    for inner in command.get_subcommands().filter(shown) {
        collect(inner, &name, pages)?;
    }
    Ok(())
}

fn entry(roff: &mut Roff, head: &str, text: &str) {
    roff.control("TP", []);
    roff.text([bold(head)]);
    roff.text([roman(text)]);
}

fn settings() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["TUNABLES"]);
    for t in tunables::TUNABLES {
        let head = format!("{} = {}", t.name, t.default);
        entry(
            &mut roff,
            &head,
            &format!("{} ({} … {} {})", t.meaning, t.min, t.max, t.unit),
        );
    }
    roff.control("SH", ["SWITCHES"]);
    for f in tunables::FEATURES {
        let state = if f.default { "on" } else { "off" };
        entry(&mut roff, &format!("{} = {state}", f.name), f.meaning);
    }
    roff
}

fn statistics() -> Roff {
    let mut roff = Roff::new();
    for (title, rows) in stats::tables() {
        roff.control("SH", [title.to_uppercase().as_str()]);
        for row in rows {
            let head = format!("{} ({})", row.name, row.unit.text());
            entry(&mut roff, &head, row.meaning);
        }
    }
    roff.control("PP", []);
    roff.text([roman(format!(
        "LEVEL is one of {}.",
        stats::LEVELS.join(", ")
    ))]);
    roff
}

fn exit_status() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for line in crate::exit::EXIT_CODES.lines().skip(1) {
        if let Some((code, meaning)) = line.trim().split_once("  ") {
            entry(&mut roff, code, meaning);
        }
    }
    roff
}

fn files() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["FILES"]);
    for (file, text) in [
        (
            config_file::DEFAULT,
            "settings, read at start and on SIGHUP",
        ),
        (
            crate::live::pins::DIR,
            "pinned maps of the running scheduler",
        ),
        (
            crate::record::DIR,
            "who runs it, and how earlier runs ended",
        ),
        ("/var/run/scx/root/stats", "socket with statistics"),
    ] {
        entry(&mut roff, file, text);
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_the_page_and_every_command_has_one() {
        let pages = pages().unwrap();
        let (name, page) = &pages[0];
        assert_eq!(name, "scx_sibling.8");
        let page = String::from_utf8(page.clone()).unwrap().replace('\\', "");
        let rows = stats::tables().into_iter().flat_map(|(_, rows)| rows);
        let names = tunables::all_names().map(str::to_string);
        for name in names.chain(rows.map(|row| row.name)) {
            assert!(page.contains(&name), "{name}");
        }
        for command in Cli::command().get_subcommands() {
            let file = format!("scx_sibling-{}.8", command.get_name());
            assert!(pages.iter().any(|(name, _)| *name == file), "{file}");
        }
    }

    #[test]
    fn the_completions_know_the_names_of_tunables() {
        let mut script = Vec::new();
        clap_complete::generate(Shell::Bash, &mut Cli::command(), "scx_sibling", &mut script);
        let script = String::from_utf8(script).unwrap();
        for name in tunables::all_names() {
            assert!(script.contains(name), "{name}");
        }
    }
}
