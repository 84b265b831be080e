// SPDX-License-Identifier: GPL-2.0-only
//! The loader's part in the live tunables: it keeps their map over hotplug
//! restarts, pins it for the tools, and brings a changed file into force.

use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;

use anyhow::Result;
use libbpf_rs::MapHandle;

use super::pins;
use super::pins::Pin;
use super::words::Words;
use crate::config_file::Sources;
use crate::loader::Scheduler;
use crate::out;
use crate::tunables::config::Config;

/// The tunables of a run, from its first load to its end.
#[derive(Debug)]
pub struct LiveSettings {
    sources: Sources,
    /// What the file sets, as last read.
    file: Config,
    loaded: Option<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    map: MapHandle,
    words: Words,
    _pin: Option<Pin>,
}

impl LiveSettings {
    /// Those of a run that was started with what `sources` say; `file` is what the file sets.
    pub fn new(sources: Sources, file: Config) -> Self {
        LiveSettings {
            sources,
            file,
            loaded: None,
        }
    }

    /// The map to go on with after a restart.
    pub fn map(&self) -> Option<BorrowedFd<'_>> {
        self.loaded.as_ref().map(|loaded| loaded.map.as_fd())
    }

    /// Takes the map of the first load and pins it. Only after the attach: until then the pin may be
    /// that of another instance, which runs.
    ///
    /// # Errors
    /// The map cannot be kept or mapped. That it cannot be pinned is said, and no more.
    pub fn loaded(&mut self, scheduler: &Scheduler<'_>) -> Result<()> {
        if self.loaded.is_some() {
            return Ok(());
        }
        let map = scheduler.live()?;
        let pin = Pin::new(map.as_fd(), pins::TUNABLES, 0o600);
        if let Err(error) = &pin {
            out::note(format_args!("no `scx_sibling tune` of this run: {error:#}"));
        }
        self.loaded = Some(Loaded {
            words: Words::map(map.as_fd())?,
            map,
            _pin: pin.ok(),
        });
        Ok(())
    }

    /// Reads the file again and says what came of it.
    pub fn reread(&mut self) {
        let Some(loaded) = &self.loaded else { return };
        let mut now = Config::default();
        let read = loaded.words.update(|live| {
            now = self.sources.again(&self.file, live)?;
            Ok(())
        });
        let file = self.sources.file().display();
        match read {
            Ok(()) => {
                out::note(format_args!("settings read again from {file}"));
                self.file = now;
            }
            Err(error) => out::note(format_args!(
                "settings not read again, all is as it was: {error:#}"
            )),
        }
    }
}
